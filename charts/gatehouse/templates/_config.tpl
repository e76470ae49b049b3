{{/* The address inside the cluster. The port is left out where it is the scheme's own: clients compare issuers as text. */}}
{{- define "gatehouse.url" -}}
{{- $scheme := include "gatehouse.scheme" . -}}
{{- $usual := ternary 443 80 (eq $scheme "https") -}}
{{- $port := int .Values.service.port -}}
{{ $scheme }}://{{ include "gatehouse.fullname" . }}.{{ .Release.Namespace }}.svc{{ if ne $port $usual }}:{{ $port }}{{ end }}
{{- end }}

{{/* The configuration file. Whatever else depends on a setting reads it from here, so that file and objects agree. */}}
{{- define "gatehouse.config" -}}
{{- $server := dict "port" 9090 "metricsPort" 9091 "shutdownDelay" "15s" -}}
{{- with include "gatehouse.tlsSecret" . -}}
{{- $folder := "/var/run/secrets/gatehouse/tls" -}}
{{- $_ := set $server "tls" (dict "certFile" (print $folder "/tls.crt") "keyFile" (print $folder "/tls.key")) -}}
{{- end -}}
{{- $oauth := dict "issuer" (.Values.issuer | default (print (include "gatehouse.url" .) "/oauth")) -}}
{{- if .Values.oauth.client.existingSecret -}}
{{- $client := dict "name" .Values.platform "secretFile" "/var/run/secrets/gatehouse/oauth-client/secret" -}}
{{- $_ := set $oauth "clients" (list $client) -}}
{{- end -}}
{{- if .Values.oauth.client.generate -}}
{{- $client := dict "name" .Values.platform "secretName" (include "gatehouse.madeClientSecret" .) -}}
{{- $_ := set $oauth "clients" (list $client) -}}
{{- end -}}
{{- $authentication := dict "oauthOptions" $oauth -}}
{{- if .Values.tokenReview.existingSecret -}}
{{- $_ := set $authentication "tokenReview" (dict "callerTokenFile" "/var/run/secrets/gatehouse/token-review/token") -}}
{{- end -}}
{{- $logging := dict -}}
{{- with .Values.logging -}}
{{- if .host -}}
{{- $_ := set $logging "host" .host -}}
{{- end -}}
{{- if .existingSecret -}}
{{- $_ := set $logging "username" .username -}}
{{- $_ := set $logging "passwordFile" "/var/run/secrets/gatehouse/log-store/password" -}}
{{- end -}}
{{- if .ca.existingSecret -}}
{{- $_ := set $logging "caFile" "/var/run/secrets/gatehouse/log-store-ca/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- $monitoring := dict -}}
{{- with .Values.monitoring -}}
{{- if .prometheus -}}
{{- $_ := set $monitoring "prometheus" .prometheus -}}
{{- end -}}
{{- if and .existingSecret .username -}}
{{- $_ := set $monitoring "username" .username -}}
{{- $_ := set $monitoring "passwordFile" "/var/run/secrets/gatehouse/prometheus/password" -}}
{{- else if .existingSecret -}}
{{- $_ := set $monitoring "tokenFile" "/var/run/secrets/gatehouse/prometheus/token" -}}
{{- end -}}
{{- if .ca.existingSecret -}}
{{- $_ := set $monitoring "caFile" "/var/run/secrets/gatehouse/prometheus-ca/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- $users := dict -}}
{{- if .Values.users.existingSecret -}}
{{- $_ := set $users "file" "/var/run/secrets/gatehouse/users/users.yaml" -}}
{{- end -}}
{{- /* Merging keeps a map where the override is false, so the switch is read before. */ -}}
{{- if ne (toString (dig "users" "firstAdministrator" "" .Values.config)) "false" -}}
{{- $_ := set $users "firstAdministrator" (dict "secretName" (print .Values.platform "-first-administrator")) -}}
{{- end -}}
{{- $gateway := dict "enabled" .Values.gateway.enabled -}}
{{- if .Values.gateway.enabled -}}
{{- if or .Values.gateway.users .Values.gateway.accounts.enabled -}}
{{- $_ := set $gateway "users" .Values.gateway.users -}}
{{- end -}}
{{- if .Values.gateway.accounts.enabled -}}
{{- $_ := set $gateway "accounts" (include "gatehouse.followedAccounts" . | fromYaml) -}}
{{- end -}}
{{- end -}}
{{- $base := dict
  "platform" .Values.platform
  "server" $server
  "authentication" $authentication
  "users" $users
  "accounts" (dict "enabled" .Values.accounts.enabled)
  "gateway" $gateway
  "sessions" (dict "store" .Values.sessions.store)
  "keys" (dict "secretName" (print .Values.platform "-signing-keys"))
-}}
{{- if $logging -}}
{{- $_ := set $base "logging" $logging -}}
{{- end -}}
{{- if $monitoring -}}
{{- $_ := set $base "monitoring" $monitoring -}}
{{- end -}}
{{- mergeOverwrite $base (deepCopy .Values.config) | toYaml -}}
{{- end }}

{{/* A map without the keys that have no value, at every depth. In YAML that is what a section is with everything below it commented out. */}}
{{- define "gatehouse.withoutNulls" -}}
{{- $kept := dict -}}
{{- range $key, $value := .map -}}
{{- if kindIs "map" $value -}}
{{- $_ := set $kept $key (include "gatehouse.withoutNulls" (dict "map" $value) | fromYaml) -}}
{{- else if not (kindIs "invalid" $value) -}}
{{- $_ := set $kept $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $kept -}}
{{- end }}

{{/* The Secrets that values name and the pod mounts, each as a folder of /var/run/secrets/gatehouse: value is the value that names
     it, key what has to be in it. */}}
{{- define "gatehouse.mountedSecrets" -}}
{{- $mounted := list -}}
{{- range list
  (dict "name" "users" "value" "users.existingSecret" "secret" .Values.users.existingSecret "key" "users.yaml")
  (dict "name" "oauth-client" "value" "oauth.client.existingSecret" "secret" .Values.oauth.client.existingSecret "key" "secret")
  (dict "name" "token-review" "value" "tokenReview.existingSecret" "secret" .Values.tokenReview.existingSecret "key" "token")
  (dict "name" "tls" "value" (include "gatehouse.tlsValue" .) "secret" (include "gatehouse.tlsSecret" .) "key" "tls.crt")
  (dict "name" "log-store" "value" "logging.existingSecret" "secret" .Values.logging.existingSecret "key" "password")
  (dict "name" "log-store-ca" "value" "logging.ca.existingSecret" "secret" .Values.logging.ca.existingSecret "key" "ca.crt")
  (dict "name" "prometheus" "value" "monitoring.existingSecret" "secret" .Values.monitoring.existingSecret "key" (ternary "password" "token" (not (empty .Values.monitoring.username))))
  (dict "name" "prometheus-ca" "value" "monitoring.ca.existingSecret" "secret" .Values.monitoring.ca.existingSecret "key" "ca.crt")
-}}
{{- if .secret -}}
{{- $mounted = append $mounted (set . "folder" (print "/var/run/secrets/gatehouse/" .name)) -}}
{{- end -}}
{{- end -}}
{{- dict "mounted" $mounted | toYaml -}}
{{- end }}

{{/* The Secret in which the program makes the secret of the client named <platform>. */}}
{{- define "gatehouse.madeClientSecret" -}}
{{ .Values.platform }}-oauth-client
{{- end }}

{{/* The Secrets that the program makes and keeps, as a JSON list of names: those of the pods that run with an earlier configuration too,
     which read them again when they start. */}}
{{- define "gatehouse.ownSecrets" -}}
{{- $configs := list (include "gatehouse.config" . | fromYaml) -}}
{{- range include "gatehouse.earlierConfigMaps" . | fromYamlArray -}}
{{- if .keep -}}
{{- $configs = append $configs (get .data "config.yaml" | fromYaml) -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range $configs -}}
{{- $names = append $names (dig "keys" "secretName" "" .) -}}
{{- with dig "users" "firstAdministrator" dict . -}}
{{- $names = append $names (get . "secretName") -}}
{{- end -}}
{{- range dig "authentication" "oauthOptions" "clients" (list) . -}}
{{- $names = append $names (get . "secretName") -}}
{{- end -}}
{{- if eq (toString (dig "authorization" "shareQuestions" "" .)) "true" -}}
{{- $names = append $names (print .platform "-recent-questions") -}}
{{- end -}}
{{- end -}}
{{- $names | uniq | compact | toJson -}}
{{- end }}
