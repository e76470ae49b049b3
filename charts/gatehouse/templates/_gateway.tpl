{{/* The verbs of requests for objects, as the API server reads them from a request line. RBAC knows no pattern in a verb. */}}
{{- define "gatehouse.objectVerbs" -}}
["get","list","watch","create","update","patch","delete","deletecollection"]
{{- end }}

{{/* Verbs in somebody else's name, for constrained impersonation: a list of verbs as a JSON list. */}}
{{- define "gatehouse.verbsInTheirNames" -}}
{{- $verbs := list -}}
{{- range . -}}
{{- $verbs = append $verbs (print "impersonate-on:user-info:" .) -}}
{{- end -}}
{{- toJson $verbs -}}
{{- end }}

{{/* How the verb of impersonation is asked for: the API group and the verb. */}}
{{- define "gatehouse.impersonationGroup" -}}
{{ ternary "authentication.k8s.io" "" .Values.gateway.constrainedImpersonation.enabled }}
{{- end }}
{{- define "gatehouse.impersonationVerb" -}}
{{ ternary "impersonate:user-info" "impersonate" .Values.gateway.constrainedImpersonation.enabled }}
{{- end }}

{{/* Whether the gateway follows the accounts: "true" or "". */}}
{{- define "gatehouse.followsAccounts" -}}
{{- if and .Values.gateway.enabled .Values.gateway.accounts.enabled -}}
true
{{- end -}}
{{- end }}

{{/* The most names that Gatehouse writes into one ClusterRole (src/accounts/impersonation/impersonation-role.ts). */}}
{{- define "gatehouse.namesInARole" -}}
1000
{{- end }}

{{/*
The most prefixes in gateway.accounts.groups. The policy compares each with up to 1,000 groups of a role, and the API server ends an expression
that costs more than 1,000,000 (PerCallLimit of k8s.io/apiserver/pkg/apis/cel). It then refuses every write, also one that takes names away. With 20
prefixes of 30 bytes the expression costs about half of that.
*/}}
{{- define "gatehouse.mostGroupPrefixes" -}}
20
{{- end }}

{{/* The ClusterRoles that Gatehouse writes the chosen users into, as a JSON list of names. */}}
{{- define "gatehouse.followingRoles" -}}
{{- $names := list -}}
{{- $size := include "gatehouse.namesInARole" . | int -}}
{{- $count := div (add (int .Values.gateway.accounts.maxUsers) (sub $size 1)) $size | int -}}
{{- range until $count -}}
{{- $names = append $names (printf "%s:gateway:accounts-%d" (include "gatehouse.clusterName" $) .) -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}

{{/* The section gateway.accounts of the configuration. */}}
{{- define "gatehouse.followedAccounts" -}}
{{- $accounts := .Values.gateway.accounts -}}
enabled: true
selector: {{ toJson ($accounts.selector | default dict) }}
roles: {{ toJson $accounts.roles }}
groups: {{ toJson $accounts.groups }}
clusterRoles: {{ include "gatehouse.followingRoles" . }}
constrainedImpersonation: {{ .Values.gateway.constrainedImpersonation.enabled }}
{{- end }}

{{/* The name of the policy that limits what Gatehouse writes into these ClusterRoles, which must be a DNS name. */}}
{{- define "gatehouse.impersonationPolicyName" -}}
{{ .Release.Namespace }}.{{ include "gatehouse.fullname" . }}.impersonation
{{- end }}

{{/* Users and groups that nobody may impersonate through Gatehouse, besides those that begin with system: or kubeadm:. */}}
{{- define "gatehouse.reservedNames" -}}
{{- dig "accounts" "reservedNames" (list "kubernetes-admin" "kubernetes-super-admin" "kube-admin") .Values.config | toJson -}}
{{- end }}

{{/* gateway.accounts.groups as JSON lists: the names, and the prefixes without their star. */}}
{{- define "gatehouse.exactGroups" -}}
{{- $names := list -}}
{{- range .Values.gateway.accounts.groups -}}
{{- if not (hasSuffix "*" .) -}}
{{- $names = append $names . -}}
{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}
{{- define "gatehouse.groupPrefixes" -}}
{{- $prefixes := list -}}
{{- range .Values.gateway.accounts.groups -}}
{{- if hasSuffix "*" . -}}
{{- $prefixes = append $prefixes (trimSuffix "*" .) -}}
{{- end -}}
{{- end -}}
{{- toJson $prefixes -}}
{{- end }}
