{{/* Requests and limits. A number becomes the text that the cluster shows of it: one of YAML may be written with an exponent otherwise. */}}
{{- define "gatehouse.resources" -}}
{{- $resources := dict -}}
{{- range $kind, $amounts := . -}}
{{- $written := dict -}}
{{- range $name, $amount := $amounts -}}
{{- if kindIs "float64" $amount -}}
{{- $amount = eq (floor $amount) $amount | ternary (int64 $amount) $amount -}}
{{- end -}}
{{- if not (kindIs "invalid" $amount) -}}
{{- $_ := set $written $name (toString $amount) -}}
{{- end -}}
{{- end -}}
{{- if $written -}}
{{- $_ := set $resources $kind $written -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end }}

{{/* Values that may be left empty, with what they are then. Helm takes a value away that is null, as YAML reads one with nothing after its name. */}}
{{- define "gatehouse.emptyValues" -}}
{{- $empty := dict -}}
{{- range list "imagePullSecrets" "tolerations" "topologySpreadConstraints" "hostAliases" "extraEnv" "envFrom" "extraVolumes" "extraVolumeMounts"
  "extraContainers" "initContainers" "extraObjects"
  "accounts.roleAssigners.users" "accounts.roleAssigners.groups" "accounts.objectWriters.users" "accounts.objectWriters.groups"
  "gateway.users" "gateway.groups" "gateway.accounts.roles" "gateway.accounts.groups"
  "gateway.accounts.selector.matchExpressions" "kinds.extraRules" -}}
{{- $_ := set $empty . list -}}
{{- end -}}
{{- range list "commonLabels" "commonAnnotations" "nodeSelector" "affinity" "deploymentLabels" "deploymentAnnotations" "podAnnotations" "podLabels"
  "dnsConfig" "gateway.accounts.selector.matchLabels" "config" -}}
{{- $_ := set $empty . dict -}}
{{- end -}}
{{- range list "nameOverride" "fullnameOverride" "namespaceOverride" "issuer" "priorityClassName" "schedulerName"
  "runtimeClassName" "dnsPolicy" -}}
{{- $_ := set $empty . "" -}}
{{- end -}}
{{- toYaml $empty -}}
{{- end }}

{{/* Sections and settings that are left empty are as those that are not there. Helm has taken them away with what the chart has below them, and no
     template reads values.yaml, so files/values.json has the same. Fields that Kubernetes knows are left as they are: there, null takes one away. */}}
{{- define "gatehouse.fillDefaults" -}}
{{- $fields := list "config" "nodeSelector" "resources.requests" "resources.limits" "podSecurityContext" "containerSecurityContext" "updateStrategy"
  "dashboard.labels" "tls.certManager.privateKey" "helmTest.resources.requests" "helmTest.resources.limits" -}}
{{- range $key, $default := .defaults -}}
{{- $path := printf "%s%s" $.prefix $key -}}
{{- $value := get $.values $key -}}
{{- if or (not (hasKey $.values $key)) (kindIs "invalid" $value) -}}
{{- $_ := set $.values $key $default -}}
{{- else if and (kindIs "map" $value) (kindIs "map" $default) (not (has $path $fields)) -}}
{{- include "gatehouse.fillDefaults" (dict "values" $value "defaults" $default "prefix" (printf "%s." $path)) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Fills in one of them, down its path. */}}
{{- define "gatehouse.fillEmpty" -}}
{{- $key := first .path -}}
{{- if gt (len .path) 1 -}}
{{- if kindIs "map" (get .values $key) -}}
{{- include "gatehouse.fillEmpty" (dict "values" (get .values $key) "path" (rest .path) "empty" .empty) -}}
{{- end -}}
{{- else if or (not (hasKey .values $key)) (kindIs "invalid" (get .values $key)) -}}
{{- $_ := set .values $key .empty -}}
{{- end -}}
{{- end }}
