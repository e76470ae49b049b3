{{/* The guard of users and login records. Each release of a platform has one, and all of them have to let a write through: a guard lets the
     writers of its own release through, and whom another release names, which the cluster's RBAC tells (docs/decisions/0035). */}}
{{- define "gatehouse.guard" -}}
{{- $writers := .Values.accounts.objectWriters -}}
failurePolicy: Fail
matchConstraints:
  resourceRules:
    - apiGroups: [iam.{{ .Values.platform }}.io]
      apiVersions: ['*']
      operations: [CREATE, UPDATE, DELETE]
      resources: [users, users/status, loginrecords]
variables:
  - name: writers
    expression: {{ prepend $writers.users (include "gatehouse.accountUser" .) | toJson | replace "'" "''" | squote }}
  - name: groups
    expression: {{ prepend $writers.groups "system:masters" | toJson | replace "'" "''" | squote }}
  # The garbage collector ends deletions: it takes finalizers of its own away, and deletes what belonged to what is gone. It has a name of
  # its own, or that of its program. The namespace controller has no business here: users and login records are in no namespace. A
  # deletion of the definition itself asks no policy.
  - name: collectors
    expression: '["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]'
  # Another release of the platform names its writers by a right. It is asked for by its own verb, and by "*", which only a role with
  # every verb has: such a role names nobody.
  - name: namedElsewhere
    expression: >-
      {{ include "gatehouse.mayPass" (list . "pass") }}
      && !{{ include "gatehouse.mayPass" (list . "*") }}
validations:
  - expression: >-
      request.userInfo.username in variables.writers
      || (has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in variables.groups))
      || (request.operation != 'CREATE' && request.userInfo.username in variables.collectors)
      || variables.namedElsewhere
    message: users and login records are written by Gatehouse only; use its API, /kapis/iam.{{ .Values.platform }}.io/v1alpha2/users, or be named by the chart's value accounts.objectWriters
    reason: Forbidden
{{- end }}

{{/* Whether the writer has a verb on the guards of the platform, in CEL. No object has that name; RBAC asks for none. */}}
{{- define "gatehouse.mayPass" -}}
{{- $root := first . -}}
authorizer.group('admissionregistration.k8s.io').resource('validatingadmissionpolicies').name('iam.{{ $root.Values.platform }}.io').check('{{ last . }}').allowed()
{{- end }}

{{/* The other guards of the platform in the cluster, as a JSON list: name, release, namespace, isFormer (this release had it under
     that name), isKept, refuses (it does not know of other releases). Where no cluster is asked there are none. */}}
{{- define "gatehouse.otherGuards" -}}
{{- $guards := list -}}
{{- range (lookup "admissionregistration.k8s.io/v1" "ValidatingAdmissionPolicy" "" "").items -}}
{{- $groups := list -}}
{{- range dig "spec" "matchConstraints" "resourceRules" (list) . -}}
{{- $groups = concat $groups (.apiGroups | default list) -}}
{{- end -}}
{{- $isGuard := and (hasSuffix ".accounts" .metadata.name) (has (printf "iam.%s.io" $.Values.platform) $groups) -}}
{{- if and $isGuard (ne .metadata.name (include "gatehouse.policyName" $)) -}}
{{- $says := "" -}}
{{- range concat (dig "spec" "variables" (list) .) (dig "spec" "validations" (list) .) -}}
{{- $says = print $says .expression -}}
{{- end -}}
{{- $annotations := dig "annotations" dict .metadata -}}
{{- $release := get $annotations "meta.helm.sh/release-name" -}}
{{- $namespace := get $annotations "meta.helm.sh/release-namespace" -}}
{{- $chart := regexReplaceAll "-[0-9]+[.][0-9]+[.][0-9]+.*$" (dig "labels" "helm.sh/chart" "" .metadata) "" -}}
{{- $isFormer := and (eq $release $.Release.Name) (eq $namespace $.HelmNamespace) (eq $chart $.Chart.Name) -}}
{{- $knows := or (contains ".check('pass')" $says) (contains (include "gatehouse.accountUser" $ | quote) $says) -}}
{{- $guards = append $guards (dict "name" .metadata.name "release" $release "namespace" $namespace "isFormer" $isFormer "isKept" (hasKey $annotations "helm.sh/resource-policy") "refuses" (not $knows)) -}}
{{- end -}}
{{- end -}}
{{- toJson $guards -}}
{{- end }}

{{/* The names under which this release had its guard before, as a JSON list. Each is rendered once more, as the guard is now and without
     the annotation by which Helm keeps it, so that Helm deletes it at the upgrade after that: until then neither users are
     unguarded nor does it refuse the new account. */}}
{{- define "gatehouse.formerGuards" -}}
{{- $names := list -}}
{{- range include "gatehouse.otherGuards" . | fromJsonArray -}}
{{- if and .isFormer .isKept -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}

{{/* What a guard that refuses this release does, and what helps. The verb says whether it does so already. */}}
{{- define "gatehouse.refusingGuard" -}}
{{- $guard := .guard -}}
{{- $whose := ternary (printf " of the release %q of the namespace %q" $guard.release $guard.namespace) "" (not (empty $guard.release)) -}}
the ValidatingAdmissionPolicy {{ quote $guard.name }}{{ $whose }} lets only that release write users of {{ quote .platform }}: the cluster {{ .verb }} every write of this one; upgrade that release to this version of the chart first, or, if it is uninstalled, delete what it left: kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy {{ $guard.name }}
{{- end }}

{{/* A release whose every write the cluster would refuse is not begun. One that is there already is told so by NOTES: of two such releases
     one has to be upgraded first. */}}
{{- define "gatehouse.preflight.guards" -}}
{{- if .Values.accounts.enabled -}}
{{- $own := lookup "admissionregistration.k8s.io/v1" "ValidatingAdmissionPolicy" "" (include "gatehouse.policyName" .) -}}
{{- if or .Release.IsInstall (not $own) -}}
{{- range include "gatehouse.otherGuards" . | fromJsonArray -}}
{{- if and .refuses (not .isFormer) -}}
{{- include "gatehouse.problem" (include "gatehouse.refusingGuard" (dict "guard" . "platform" $.Values.platform "verb" "would refuse")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What NOTES say of other releases of the platform. */}}
{{- define "gatehouse.notes.guards" -}}
{{- if .Values.accounts.enabled }}
{{- $others := 0 }}
{{- range include "gatehouse.otherGuards" . | fromJsonArray }}
{{- if not .isFormer }}
{{- $others = add $others 1 }}
{{- if .refuses }}
WARNING: {{ include "gatehouse.refusingGuard" (dict "guard" . "platform" $.Values.platform "verb" "refuses") }}
{{- else }}
Users of {{ $.Values.platform }} are written by {{ .release | empty | ternary "another installation" (printf "the release %q of the namespace %s" .release .namespace) }} as well, whose guard is the ValidatingAdmissionPolicy {{ .name }}. If that is gone, this deletes its guard, and yours stays:
  kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy {{ .name }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $others (not .Values.rbac.create) }}
WARNING: rbac.create is false, so somebody has to let the service account and accounts.objectWriters "pass" the validatingadmissionpolicies "iam.{{ .Values.platform }}.io" (API group admissionregistration.k8s.io): without that right the guards of the platform's other releases refuse them.
{{- end }}
{{- end }}
{{- end }}
