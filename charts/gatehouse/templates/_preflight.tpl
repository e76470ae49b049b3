{{/* Ends the rendering when values contradict each other, or name what is not there: with a sentence for each, all at once. What only the
     cluster can tell is asked when the values alone are good. */}}
{{- define "gatehouse.preflight" -}}
{{- include "gatehouse.refuse" (include "gatehouse.preflight.values" .) -}}
{{- include "gatehouse.refuse" (include "gatehouse.preflight.cluster" .) -}}
{{- end }}

{{/* A line about a value that cannot stay as it is. */}}
{{- define "gatehouse.problem" -}}
{{- . }}{{ "\n" -}}
{{- end }}

{{/* Ends the rendering with these lines, if there are any. */}}
{{- define "gatehouse.refuse" -}}
{{- $problems := trim . | splitList "\n" | uniq | compact -}}
{{- if eq (len $problems) 1 -}}
{{- fail (first $problems) -}}
{{- else if $problems -}}
{{- fail (printf "%d values have to be changed:\n- %s" (len $problems) (join "\n- " $problems)) -}}
{{- end -}}
{{- end }}

{{/* What is wrong with the values, a line each. */}}
{{- define "gatehouse.preflight.values" -}}
{{- if eq (toString .Values.enabled) "false" -}}
{{- include "gatehouse.problem" "enabled is false, which only Helm reads, in a chart that has this one as a dependency with condition: gatehouse.enabled; add that condition there, or leave enabled out." -}}
{{- end -}}
{{- if and (gt (int .Values.replicaCount) 1) (eq .Values.sessions.store "memory") -}}
{{- include "gatehouse.problem" (printf "replicaCount is %d, but sessions.store is memory: replicas would not see each other's sessions; set sessions.store to kubernetes, or replicaCount to 1." (int .Values.replicaCount)) -}}
{{- end -}}
{{- include "gatehouse.preflight.autoscaling" . -}}
{{- if not (regexMatch "^[a-z]" (include "gatehouse.fullname" .)) -}}
{{- include "gatehouse.problem" (printf "the name %q of the objects begins with no letter, but the name of a Service must; set fullnameOverride, or choose another name for the release." (include "gatehouse.fullname" .)) -}}
{{- end -}}
{{- if and .Values.image.tag .Values.image.digest -}}
{{- include "gatehouse.problem" (printf "image.tag is %q, but image.digest is set too, and the digest alone decides which image runs; set one of them to an empty text." .Values.image.tag) -}}
{{- end -}}
{{- include "gatehouse.preflight.service" . -}}
{{- include "gatehouse.preflight.certificate" . -}}
{{- include "gatehouse.preflight.routes" . -}}
{{- include "gatehouse.preflight.metrics" . -}}
{{- include "gatehouse.preflight.alerts" . -}}
{{- include "gatehouse.preflight.budget" . -}}
{{- include "gatehouse.preflight.pod" . -}}
{{- include "gatehouse.preflight.labels" . -}}
{{- include "gatehouse.preflight.annotations" . -}}
{{- include "gatehouse.preflight.containers" . -}}
{{- include "gatehouse.preflight.extraObjects" . -}}
{{- include "gatehouse.preflight.config" . -}}
{{- include "gatehouse.preflight.files" . -}}
{{- include "gatehouse.preflight.accounts" . -}}
{{- include "gatehouse.preflight.gateway" . -}}
{{- include "gatehouse.preflight.kinds" . -}}
{{- include "gatehouse.preflight.logging" . -}}
{{- include "gatehouse.preflight.monitoring" . -}}
{{- end }}

{{- define "gatehouse.preflight.budget" -}}
{{- $budget := .Values.podDisruptionBudget -}}
{{- $least := toString $budget.minAvailable -}}
{{- $most := toString $budget.maxUnavailable -}}
{{- if and (ne $least "") (ne $most "") -}}
{{- include "gatehouse.problem" "podDisruptionBudget.minAvailable and podDisruptionBudget.maxUnavailable are both set, but a budget can have one of them only; set one of them to an empty text." -}}
{{- end -}}
{{- $replicas := include "gatehouse.leastReplicas" . | int -}}
{{- $value := .Values.autoscaling.enabled | ternary "autoscaling.minReplicas" "replicaCount" -}}
{{- if or (eq $least "100%") (and (regexMatch "^[0-9]+$" $least) (ge (int $least) $replicas)) -}}
{{- include "gatehouse.problem" (printf "podDisruptionBudget.minAvailable is %s and %s is %d: no replica could ever be evicted, so no drain of its node would end; lower minAvailable, or use maxUnavailable." $least $value $replicas) -}}
{{- end -}}
{{- if has $most (list "0" "0%") -}}
{{- include "gatehouse.problem" (printf "podDisruptionBudget.maxUnavailable is %s: no replica could ever be evicted, so no drain of its node would end; set 1 or more, or podDisruptionBudget.enabled to false." $most) -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.autoscaling" -}}
{{- $autoscaling := .Values.autoscaling -}}
{{- if $autoscaling.enabled -}}
{{- if eq .Values.sessions.store "memory" -}}
{{- include "gatehouse.problem" "autoscaling.enabled is true, but sessions.store is memory: replicas would not see each other's sessions; set sessions.store to kubernetes, or autoscaling.enabled to false." -}}
{{- end -}}
{{- if gt (int .Values.replicaCount) 1 -}}
{{- include "gatehouse.problem" (printf "replicaCount is %d, but autoscaling.enabled is true, and the autoscaler sets the number of replicas; set autoscaling.minReplicas instead, and leave replicaCount out." (int .Values.replicaCount)) -}}
{{- end -}}
{{- if gt (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas) -}}
{{- include "gatehouse.problem" (printf "autoscaling.minReplicas is %d, which is above autoscaling.maxReplicas (%d)." (int $autoscaling.minReplicas) (int $autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if not (or $autoscaling.targetCPUUtilizationPercentage $autoscaling.targetMemoryUtilizationPercentage $autoscaling.metrics) -}}
{{- include "gatehouse.problem" "autoscaling.enabled is true, but there is no metric to scale by; set autoscaling.targetCPUUtilizationPercentage, or name autoscaling.metrics." -}}
{{- end -}}
{{- end -}}
{{- end }}
