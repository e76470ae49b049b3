{{/* One endpoint of a ServiceMonitor or a PodMonitor. Takes the context and the monitor's values. */}}
{{- define "gatehouse.scrapedEndpoint" -}}
{{- $root := .root -}}
{{- with .monitor -}}
port: metrics
path: /metrics
scheme: {{ .scheme | default (include "gatehouse.scheme" $root) }}
{{- if .honorLabels }}
honorLabels: true
{{- end }}
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

{{/* Name and namespace of a monitor. In a namespace with those of other releases, its name has that of the release's namespace. */}}
{{- define "gatehouse.monitorPlace" -}}
{{- $own := .root.Release.Namespace -}}
{{- $namespace := .monitor.namespace | default $own -}}
{{- $fullname := include "gatehouse.fullname" .root -}}
name: {{ eq $namespace $own | ternary $fullname (printf "%s-%s" $own $fullname) }}
namespace: {{ $namespace }}
{{- end }}
