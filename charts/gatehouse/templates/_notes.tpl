{{/* Where NOTES let programs sign in: the address that people use, as a word of a shell. */}}
{{- define "gatehouse.tokenAddress" -}}
{{- with .Values.issuer }}{{ . }}/token{{ else }}{{ include "gatehouse.addressOfPort" (dict "root" . "path" "/oauth/token") }}{{ end -}}
{{- end }}

{{/* Where the page for people is, as a word of a shell. */}}
{{- define "gatehouse.pageAddress" -}}
{{- with .Values.issuer }}{{ trimSuffix "/oauth" . }}/{{ else }}{{ include "gatehouse.addressOfPort" (dict "root" . "path" "/") }}{{ end -}}
{{- end }}

{{/* The address at which the Service is reached from outside, with "path" behind it, as a word of a shell. */}}
{{- define "gatehouse.addressOfPort" -}}
{{- $path := .path -}}
{{- with .root -}}
{{- $service := printf "kubectl -n %s get service %s -o jsonpath=" .Release.Namespace (include "gatehouse.fullname" .) -}}
{{- if eq .Values.service.type "NodePort" -}}
"{{ include "gatehouse.scheme" . }}://$(kubectl get nodes -o jsonpath='{.items[0].status.addresses[0].address}'):$({{ $service }}'{.spec.ports[0].nodePort}'){{ $path }}"
{{- else if eq .Values.service.type "LoadBalancer" -}}
"{{ include "gatehouse.scheme" . }}://$({{ $service }}'{.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}'):{{ .Values.service.port }}{{ $path }}"
{{- else -}}
{{ include "gatehouse.scheme" . }}://localhost:8080{{ $path }}
{{- end -}}
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
