{{/* One endpoint of a ServiceMonitor or a PodMonitor. Takes the context and the monitor's values. */}}
{{- define "gatehouse.scrapedEndpoint" -}}
{{- $root := .root -}}
{{- with .monitor -}}
port: metrics
path: /metrics
scheme: {{ .scheme | default (include "gatehouse.scheme" $root) }}
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end }}
