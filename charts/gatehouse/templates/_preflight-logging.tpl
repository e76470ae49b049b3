{{/* What contradicts itself about the log store. */}}
{{- define "gatehouse.preflight.logging" -}}
{{- $logging := .Values.logging -}}
{{- $config := dig "logging" dict .Values.config -}}
{{- $set := list -}}
{{- range $name, $value := dict
  "logging.username" $logging.username
  "logging.existingSecret" $logging.existingSecret
  "logging.ca.existingSecret" $logging.ca.existingSecret
  "networkPolicy.egress.logStore.ports" .Values.networkPolicy.egress.logStore.ports
  "networkPolicy.egress.logStore.to" .Values.networkPolicy.egress.logStore.to
  "config.logging" (omit $config "host" "username" "passwordFile")
-}}
{{- if $value -}}
{{- $set = append $set $name -}}
{{- end -}}
{{- end -}}
{{- if and (not $logging.host) $set -}}
{{- include "gatehouse.problem" (printf "%s is set, but logging.host is empty: there is no log store; set logging.host to its address, or leave the other out." (first $set)) -}}
{{- end -}}
{{- if and $logging.host $logging.username (not $logging.existingSecret) -}}
{{- include "gatehouse.problem" "logging.username is set, but logging.existingSecret is empty: name the Secret with that user's password." -}}
{{- end -}}
{{- if and $logging.host $logging.existingSecret (not $logging.username) -}}
{{- include "gatehouse.problem" "logging.existingSecret is set, but logging.username is empty: name the user whose password that Secret holds." -}}
{{- end -}}
{{- $certificates := or $logging.ca.existingSecret $config.caFile -}}
{{- $named := ternary "logging.ca.existingSecret" "config.logging.caFile" (not (empty $logging.ca.existingSecret)) -}}
{{- if and $certificates (hasPrefix "http:" $logging.host) -}}
{{- include "gatehouse.problem" (printf "%s is set, but logging.host is %s, which has no certificate; write https://, or leave %s out." $named $logging.host $named) -}}
{{- end -}}
{{- if and $logging.ca.existingSecret $config.caFile -}}
{{- include "gatehouse.problem" "logging.ca.existingSecret and config.logging.caFile are both set, and one file is read; leave one of them out." -}}
{{- end -}}
{{- if and $certificates $config.insecureSkipTLSVerify -}}
{{- include "gatehouse.problem" (printf "%s is set, but config.logging.insecureSkipTLSVerify is true: no certificate would be checked; leave one of them out." $named) -}}
{{- end -}}
{{- end }}
