{{- define "gatehouse.name" -}}
{{ .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{/* The release's name, once: "gatehouse" for a release of that name, "blue-gatehouse" for the release "blue". Cut to 40
     characters, so that every suffix fits into the 63 of a label. */}}
{{- define "gatehouse.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* The name of what belongs to the whole cluster. It carries the namespace, so that two namespaces may have a release of one
     name; a colon can be in no namespace's name, so two releases never meet in one name. */}}
{{- define "gatehouse.clusterName" -}}
{{ .Release.Namespace }}:{{ include "gatehouse.fullname" . }}
{{- end }}

{{- define "gatehouse.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (include "gatehouse.fullname" .) }}
{{- end }}

{{/* What the API port and the metrics port speak. */}}
{{- define "gatehouse.scheme" -}}
{{ ternary "https" "http" (not (empty .Values.tls.existingSecret)) }}
{{- end }}

{{- define "gatehouse.chart" -}}
{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "gatehouse.labels" -}}
helm.sh/chart: {{ include "gatehouse.chart" . }}
{{ include "gatehouse.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* No version in here: the selector of a Deployment cannot be changed by an upgrade. */}}
{{- define "gatehouse.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* The pod of "helm test" has another name, so that no Service, budget or monitor takes it for a replica. */}}
{{- define "gatehouse.testLabels" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
