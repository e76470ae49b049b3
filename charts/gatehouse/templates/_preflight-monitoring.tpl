{{/* What contradicts itself about Prometheus. */}}
{{- define "gatehouse.preflight.monitoring" -}}
{{- $monitoring := .Values.monitoring -}}
{{- $config := dig "monitoring" dict .Values.config -}}
{{- $set := list -}}
{{- range $name, $value := dict
  "monitoring.username" $monitoring.username
  "monitoring.existingSecret" $monitoring.existingSecret
  "monitoring.ca.existingSecret" $monitoring.ca.existingSecret
  "networkPolicy.egress.prometheus.ports" .Values.networkPolicy.egress.prometheus.ports
  "networkPolicy.egress.prometheus.to" .Values.networkPolicy.egress.prometheus.to
  "config.monitoring" (omit $config "prometheus" "username" "passwordFile" "tokenFile")
-}}
{{- if $value -}}
{{- $set = append $set $name -}}
{{- end -}}
{{- end -}}
{{- if and (not $monitoring.prometheus) $set -}}
{{- include "gatehouse.problem" (printf "%s is set, but monitoring.prometheus is empty: there is no Prometheus; set monitoring.prometheus to its address, or leave the other out." (first $set)) -}}
{{- end -}}
{{- if and $monitoring.prometheus $monitoring.username (not $monitoring.existingSecret) -}}
{{- include "gatehouse.problem" "monitoring.username is set, but monitoring.existingSecret is empty: name the Secret with that user's password." -}}
{{- end -}}
{{- $certificates := or $monitoring.ca.existingSecret $config.caFile -}}
{{- $named := ternary "monitoring.ca.existingSecret" "config.monitoring.caFile" (not (empty $monitoring.ca.existingSecret)) -}}
{{- if and $certificates (hasPrefix "http:" $monitoring.prometheus) -}}
{{- include "gatehouse.problem" (printf "%s is set, but monitoring.prometheus is %s, which has no certificate; write https://, or leave %s out." $named $monitoring.prometheus $named) -}}
{{- end -}}
{{- if and $monitoring.ca.existingSecret $config.caFile -}}
{{- include "gatehouse.problem" "monitoring.ca.existingSecret and config.monitoring.caFile are both set, and one file is read; leave one of them out." -}}
{{- end -}}
{{- if and $certificates $config.insecureSkipTLSVerify -}}
{{- include "gatehouse.problem" (printf "%s is set, but config.monitoring.insecureSkipTLSVerify is true: no certificate would be checked; leave one of them out." $named) -}}
{{- end -}}
{{- end }}
