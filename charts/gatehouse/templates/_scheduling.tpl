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
