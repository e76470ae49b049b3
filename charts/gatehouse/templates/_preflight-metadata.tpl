{{/* Labels that the chart sets itself, or that two values set. */}}
{{- define "gatehouse.preflight.labels" -}}
{{- $ours := list "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version"
  "app.kubernetes.io/managed-by" "app.kubernetes.io/component" -}}
{{- range $value, $labels := dict
  "commonLabels" .Values.commonLabels
  "deploymentLabels" .Values.deploymentLabels
  "podLabels" .Values.podLabels
  "service.labels" .Values.service.labels
  "ingress.labels" .Values.ingress.labels
  "httpRoute.labels" .Values.httpRoute.labels
  "tls.certManager.labels" .Values.tls.certManager.labels
  "metrics.serviceLabels" .Values.metrics.serviceLabels
  "metrics.serviceMonitor.labels" .Values.metrics.serviceMonitor.labels
  "metrics.podMonitor.labels" .Values.metrics.podMonitor.labels
  "prometheusRule.labels" .Values.prometheusRule.labels
  "dashboard.labels" .Values.dashboard.labels
-}}
{{- range $key, $_ := $labels -}}
{{- if has $key $ours -}}
{{- include "gatehouse.problem" (printf "%s has the label %s, which the chart sets itself; choose another label." $value $key) -}}
{{- end -}}
{{- if and (ne $value "commonLabels") (hasKey $.Values.commonLabels $key) -}}
{{- include "gatehouse.problem" (printf "%s has the label %s, and so has commonLabels; set it in one of them." $value $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Annotations that two values set, or that Helm or Gatehouse reads. */}}
{{- define "gatehouse.preflight.annotations" -}}
{{- $common := .Values.commonAnnotations -}}
{{- range $key, $_ := $common -}}
{{- if or (hasPrefix "helm.sh/" $key) (hasPrefix "meta.helm.sh/" $key) (eq $key (print $.Values.platform ".io/creator")) -}}
{{- include "gatehouse.problem" (printf "commonAnnotations has %s, which %s reads; choose another annotation." $key (contains "helm.sh/" $key | ternary "Helm" "Gatehouse")) -}}
{{- end -}}
{{- end -}}
{{- range $value, $annotations := dict
  "deploymentAnnotations" .Values.deploymentAnnotations
  "service.annotations" .Values.service.annotations
  "ingress.annotations" .Values.ingress.annotations
  "httpRoute.annotations" .Values.httpRoute.annotations
  "serviceAccount.annotations" .Values.serviceAccount.annotations
  "autoscaling.annotations" .Values.autoscaling.annotations
  "tls.certManager.annotations" .Values.tls.certManager.annotations
  "metrics.serviceAnnotations" .Values.metrics.serviceAnnotations
  "metrics.serviceMonitor.annotations" .Values.metrics.serviceMonitor.annotations
  "metrics.podMonitor.annotations" .Values.metrics.podMonitor.annotations
  "prometheusRule.annotations" .Values.prometheusRule.annotations
  "dashboard.annotations" .Values.dashboard.annotations
-}}
{{- range $key, $_ := $annotations -}}
{{- if hasKey $common $key -}}
{{- include "gatehouse.problem" (printf "%s has the annotation %s, and so has commonAnnotations; set it in one of them." $value $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
