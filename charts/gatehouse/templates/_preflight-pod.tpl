{{/* What values may not add to the pod, because the chart has it already or because it is not there. */}}
{{- define "gatehouse.preflight.pod" -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- include "gatehouse.problem" "serviceAccount.create is false, but serviceAccount.name is empty: name the service account that the pods use." -}}
{{- end -}}
{{- $rolling := dig "rollingUpdate" dict .Values.updateStrategy -}}
{{- if and (eq .Values.updateStrategy.type "RollingUpdate") (has (toString $rolling.maxSurge) (list "0" "0%")) (has (toString $rolling.maxUnavailable) (list "0" "0%")) -}}
{{- include "gatehouse.problem" "updateStrategy.rollingUpdate.maxSurge and updateStrategy.rollingUpdate.maxUnavailable are both 0: no rollout could begin; raise one of them." -}}
{{- end -}}
{{- range $key, $_ := .Values.podAnnotations -}}
{{- if and $.Values.metrics.annotations (hasPrefix "prometheus.io/" $key) -}}
{{- include "gatehouse.problem" (printf "podAnnotations has %s, which the chart sets itself; set metrics.annotations to false to write your own." $key) -}}
{{- end -}}
{{- end -}}
{{- $names := list "NODE_OPTIONS" -}}
{{- range .Values.extraEnv -}}
{{- if has .name $names -}}
{{- include "gatehouse.problem" (printf "extraEnv has %s, which %s." .name (eq .name "NODE_OPTIONS" | ternary "the chart sets itself" "it has already")) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- if and (eq .Values.dnsPolicy "None") (not .Values.dnsConfig.nameservers) -}}
{{- include "gatehouse.problem" "dnsPolicy is None, but dnsConfig.nameservers is empty: the pods could look up no name; name the servers, or leave dnsPolicy out." -}}
{{- end -}}
{{- $memory := toString .Values.resources.limits.memory -}}
{{- if regexMatch "^[+]?[0.]+([a-zA-Z].*)?$" $memory -}}
{{- include "gatehouse.problem" (printf "resources.limits.memory is %s, which Kubernetes reads as no limit: the size of the heap follows from it; set a limit, such as 512Mi." $memory) -}}
{{- else if regexMatch "^[+]?([0-9]{1,6}|[0-9]{1,9}m|[0-9]{1,12}u|[0-9]{1,15}n|[0-9]{0,6}[.][0-9]*[num]?)$" $memory -}}
{{- include "gatehouse.problem" (printf "resources.limits.memory is %s, which Kubernetes reads as less than a megabyte: no container starts with that; set a limit in Mi or Gi, such as 512Mi." $memory) -}}
{{- end -}}
{{- include "gatehouse.preflight.volumes" . -}}
{{- include "gatehouse.preflight.privileges" . -}}
{{- end }}

{{/* What values.schema.json cannot say in a sentence about root and privileges. */}}
{{- define "gatehouse.preflight.privileges" -}}
{{- range $value := list "podSecurityContext" "containerSecurityContext" -}}
{{- $context := get $.Values $value -}}
{{- if and (not (kindIs "invalid" $context.runAsUser)) (eq (toString $context.runAsUser) "0") -}}
{{- include "gatehouse.problem" (printf "%s.runAsUser is 0, which is root: the cluster would start no such pod, since runAsNonRoot is true; set another user, or null where the cluster assigns one." $value) -}}
{{- end -}}
{{- end -}}
{{- if eq (toString .Values.containerSecurityContext.runAsNonRoot) "false" -}}
{{- include "gatehouse.problem" "containerSecurityContext.runAsNonRoot is false: Gatehouse needs no root, and the pod's security context refuses it; leave it out." -}}
{{- end -}}
{{- with dig "capabilities" "add" (list) .Values.containerSecurityContext -}}
{{- include "gatehouse.problem" (printf "containerSecurityContext.capabilities.add has %s: Gatehouse needs no capability; leave it out." (first .)) -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.volumes" -}}
{{- $ours := list "config" "service-account" "tmp" "users" "oauth-client" "token-review" "tls" "log-store" "log-store-ca" -}}
{{- $extra := list -}}
{{- range .Values.extraVolumes -}}
{{- if or (has .name $ours) (has .name $extra) -}}
{{- include "gatehouse.problem" (printf "extraVolumes has a volume %q, but the pod has one of that name already; choose another name." .name) -}}
{{- end -}}
{{- $extra = append $extra .name -}}
{{- end -}}
{{- $paths := include "gatehouse.mountPaths" . | fromYamlArray -}}
{{- range .Values.extraVolumeMounts -}}
{{- if not (has .name $extra) -}}
{{- include "gatehouse.problem" (printf "extraVolumeMounts mounts the volume %q, which extraVolumes does not have; add it there." .name) -}}
{{- end -}}
{{- if has (clean .mountPath) $paths -}}
{{- include "gatehouse.problem" (printf "extraVolumeMounts mounts %q at %s, where the chart mounts a volume of its own; choose another path." .name .mountPath) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Where the chart mounts its own volumes, as a list. */}}
{{- define "gatehouse.mountPaths" -}}
{{- $paths := list "/etc/gatehouse" "/var/run/secrets/kubernetes.io/serviceaccount" "/tmp" -}}
{{- range (include "gatehouse.mountedSecrets" . | fromYaml).mounted -}}
{{- $paths = append $paths .folder -}}
{{- end -}}
{{- toYaml $paths -}}
{{- end }}
