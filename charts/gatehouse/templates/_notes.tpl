{{/* Where NOTES let people sign in: the address that they use, as a word of a shell. */}}
{{- define "gatehouse.tokenAddress" -}}
{{- $service := printf "kubectl -n %s get service %s -o jsonpath=" .Release.Namespace (include "gatehouse.fullname" .) -}}
{{- if .Values.issuer -}}
{{ .Values.issuer }}/token
{{- else if eq .Values.service.type "NodePort" -}}
"{{ include "gatehouse.scheme" . }}://$(kubectl get nodes -o jsonpath='{.items[0].status.addresses[0].address}'):$({{ $service }}'{.spec.ports[0].nodePort}')/oauth/token"
{{- else if eq .Values.service.type "LoadBalancer" -}}
"{{ include "gatehouse.scheme" . }}://$({{ $service }}'{.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}'):{{ .Values.service.port }}/oauth/token"
{{- else -}}
{{ include "gatehouse.scheme" . }}://localhost:8080/oauth/token
{{- end -}}
{{- end }}

{{/* The options by which curl is the OAuth client named after the platform. */}}
{{- define "gatehouse.curlClient" -}}
{{- $secret := .Values.oauth.client.existingSecret | default (ternary (include "gatehouse.madeClientSecret" .) "" .Values.oauth.client.generate) -}}
{{- if $secret -}}
-u "{{ .Values.platform }}:$(kubectl -n {{ .Release.Namespace }} get secret {{ $secret }} -o jsonpath='{.data.secret}' | base64 -d)"
{{- else if eq .Values.platform "kubesphere" -}}
-u kubesphere:kubesphere
{{- else -}}
-d client_id={{ .Values.platform }}
{{- end -}}
{{- end }}
