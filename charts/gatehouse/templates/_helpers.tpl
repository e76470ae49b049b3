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

{{/* The Secret with the serving certificate, which cert-manager fills where tls.certManager names an issuer; empty without TLS. */}}
{{- define "gatehouse.tlsSecret" -}}
{{ .Values.tls.existingSecret | default (ternary (print (include "gatehouse.fullname" .) "-tls") "" (not (empty .Values.tls.certManager.issuerRef.name))) }}
{{- end }}

{{/* The value that decides about TLS. */}}
{{- define "gatehouse.tlsValue" -}}
{{ ternary "tls.certManager.issuerRef" "tls.existingSecret" (and (empty .Values.tls.existingSecret) (not (empty .Values.tls.certManager.issuerRef.name))) }}
{{- end }}

{{/* What the API port and the metrics port speak. */}}
{{- define "gatehouse.scheme" -}}
{{ ternary "https" "http" (not (empty (include "gatehouse.tlsSecret" .))) }}
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

{{/* The annotations of an object, in its metadata: those of every object, and its own. Nothing where there are none. */}}
{{- define "gatehouse.annotations" -}}
{{- with merge dict (last . | default dict) (first .).Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
{{- end -}}
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
