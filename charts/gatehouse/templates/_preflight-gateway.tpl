{{/* What contradicts itself about the gateway, or would let Gatehouse act as one of the cluster's own. */}}
{{- define "gatehouse.preflight.gateway" -}}
{{- $gateway := .Values.gateway -}}
{{- $config := .Values.config -}}
{{- $reserved := dig "accounts" "reservedNames" (list "kubernetes-admin" "kubernetes-super-admin" "kube-admin") $config -}}
{{- range $kind := list "users" "groups" -}}
{{- range get $gateway $kind -}}
{{- if or (hasPrefix "system:" .) (hasPrefix "kubeadm:" .) (has . $reserved) -}}
{{- include "gatehouse.problem" (printf "gateway.%s has %q, which is one of the cluster's own: Gatehouse could act with its rights; name people and groups of the platform (system:authenticated is added to everybody)." $kind .) -}}
{{- end -}}
{{- if eq . "*" -}}
{{- include "gatehouse.problem" (printf "gateway.%s has \"*\", but Gatehouse acts only as those who are named; write out each name." $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $gateway.enabled -}}
{{- if and .Values.rbac.create (not $gateway.users) (not $gateway.accounts.enabled) -}}
{{- include "gatehouse.problem" "gateway.enabled is true, but gateway.users is empty: Gatehouse may act in the cluster only as those who are named; name the users, set gateway.accounts.enabled to true, or set rbac.create to false and grant the rights yourself." -}}
{{- end -}}
{{- if and $gateway.accounts.enabled (not .Values.accounts.enabled) -}}
{{- include "gatehouse.problem" "gateway.accounts.enabled is true, but accounts.enabled is false: there are no User objects to follow; set accounts.enabled to true, or name people in gateway.users." -}}
{{- end -}}
{{- range $gateway.accounts.groups -}}
{{- if or (hasPrefix "system:" .) (hasPrefix "kubeadm:" .) (has . $reserved) -}}
{{- include "gatehouse.problem" (printf "gateway.accounts.groups has %q, which is one of the cluster's own: Gatehouse could act with its rights; name groups of the platform." .) -}}
{{- else if or (eq . "*") (contains "*" (trimSuffix "*" .)) -}}
{{- include "gatehouse.problem" (printf "gateway.accounts.groups has %q: write a name, or a prefix that ends with one *, such as team-*." .) -}}
{{- end -}}
{{- end -}}
{{- $prefixes := include "gatehouse.groupPrefixes" . | fromJsonArray | len -}}
{{- $most := include "gatehouse.mostGroupPrefixes" . | int -}}
{{- if gt $prefixes $most -}}
{{- include "gatehouse.problem" (printf "gateway.accounts.groups has %d prefixes, but the API server compares a role's groups with at most %d before it refuses to go on; use shorter prefixes that cover more, or names, of which there may be any number." $prefixes $most) -}}
{{- end -}}
{{- if and $gateway.constrainedImpersonation.enabled (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) -}}
{{- include "gatehouse.problem" (printf "gateway.constrainedImpersonation.enabled is true, but the cluster is %s: clusters have it from 1.36 on, and an older one would refuse every call; set it to false." .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- else -}}
{{- if $gateway.accounts.enabled -}}
{{- include "gatehouse.problem" "gateway.accounts.enabled is true, but gateway.enabled is false: nobody could use it; set gateway.enabled to true, or leave it out." -}}
{{- end -}}
{{- range list "allowProxySubresources" -}}
{{- if dig "gateway" . false $config -}}
{{- include "gatehouse.problem" (printf "config.gateway.%s is true, but gateway.enabled is false; set gateway.enabled to true, or leave it out." .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $gateway.constrainedImpersonation.rules (not $gateway.constrainedImpersonation.enabled) -}}
{{- include "gatehouse.problem" "gateway.constrainedImpersonation.rules is set, but gateway.constrainedImpersonation.enabled is false: nothing would be limited by it; set both, or leave the rules out." -}}
{{- end -}}
{{- end }}
