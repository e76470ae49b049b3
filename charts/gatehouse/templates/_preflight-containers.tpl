{{/* What further containers may not be: one of a name that is taken, on a port of Gatehouse, privileged, or with a volume that is not there. */}}
{{- define "gatehouse.preflight.containers" -}}
{{- $names := list "gatehouse" -}}
{{- $volumes := include "gatehouse.volumeNames" . | fromJsonArray -}}
{{- range $value := list "extraContainers" "initContainers" -}}
{{- range $container := get $.Values $value -}}
{{- if has .name $names -}}
{{- include "gatehouse.problem" (printf "%s has a container %q, but the pod has one of that name already; choose another name." $value .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- range .ports -}}
{{- if or (has (toString .containerPort) (list "9090" "9091")) (has .name (list "api" "metrics")) -}}
{{- include "gatehouse.problem" (printf "the container %q of %s has the port %s, which is one of Gatehouse; choose another port and name." $container.name $value (.name | default (toString .containerPort))) -}}
{{- end -}}
{{- end -}}
{{- range list "privileged" "allowPrivilegeEscalation" -}}
{{- if eq (toString (get ($container.securityContext | default dict) .)) "true" -}}
{{- include "gatehouse.problem" (printf "the container %q of %s has securityContext.%s: true, with which a namespace that enforces \"restricted\" lets in no pod; leave it out." $container.name $value .) -}}
{{- end -}}
{{- end -}}
{{- range .volumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- include "gatehouse.problem" (printf "the container %q of %s mounts the volume %q, which the pod does not have; add it to extraVolumes." $container.name $value .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The names of the pod's volumes, as a JSON list. */}}
{{- define "gatehouse.volumeNames" -}}
{{- $names := list "config" "service-account" "tmp" -}}
{{- range (include "gatehouse.mountedSecrets" . | fromYaml).mounted -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range .Values.extraVolumes -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- toJson $names -}}
{{- end }}

{{/* Further objects that are none. Texts are read as they are after their templates. */}}
{{- define "gatehouse.preflight.extraObjects" -}}
{{- range $index, $given := .Values.extraObjects -}}
{{- $object := tpl (kindIs "string" $given | ternary $given (toYaml $given)) $ | fromYaml -}}
{{- range list "apiVersion" "kind" "metadata" -}}
{{- if not (get $object .) -}}
{{- include "gatehouse.problem" (printf "extraObjects[%d] has no %s; write a whole object, each as an entry of its own." $index .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
