{{/* Where the pods may run. The pod of "helm test" goes to the same nodes. */}}
{{- define "gatehouse.scheduling" -}}
{{- with .Values.nodeSelector -}}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.schedulerName }}
schedulerName: {{ . }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- if not .Values.hostUsers }}
hostUsers: false
{{- end }}
{{- end }}

{{/* Containers beside that of Gatehouse. One without a security context gets that of Gatehouse, which every namespace lets in. */}}
{{- define "gatehouse.containers" -}}
{{- $root := first . -}}
{{- $containers := list -}}
{{- range last . -}}
{{- $usual := dict "securityContext" $root.Values.containerSecurityContext -}}
{{- $containers = append $containers (hasKey . "securityContext" | ternary . (merge (deepCopy $usual) (deepCopy .))) -}}
{{- end -}}
{{- toYaml $containers -}}
{{- end }}

{{/* The least and the greatest number of replicas that the values allow. */}}
{{- define "gatehouse.leastReplicas" -}}
{{ .Values.autoscaling.enabled | ternary .Values.autoscaling.minReplicas .Values.replicaCount }}
{{- end }}

{{- define "gatehouse.mostReplicas" -}}
{{ .Values.autoscaling.enabled | ternary .Values.autoscaling.maxReplicas .Values.replicaCount }}
{{- end }}

{{/* How the replicas are spread. Old pods of a rollout do not count, unless a constraint has its own selector. */}}
{{- define "gatehouse.topologySpreadConstraints" -}}
{{- $overNodes := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" -}}
{{- $replicas := dict
  "labelSelector" (dict "matchLabels" (include "gatehouse.selectorLabels" . | fromYaml))
  "matchLabelKeys" (list "pod-template-hash")
-}}
{{- $constraints := list -}}
{{- range .Values.topologySpreadConstraints | default (list $overNodes) -}}
{{- $constraints = append $constraints (hasKey . "labelSelector" | ternary . (merge (deepCopy .) (deepCopy $replicas))) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end }}
