{{/* What may not stand in .Values.config: what a value decides, what the pod's shape decides, and secrets. What is no setting at
     all, values.schema.json refuses before. */}}
{{- define "gatehouse.preflight.config" -}}
{{- $config := .Values.config -}}
{{- $instead := dict
  "platform" "set the value platform instead."
  "server.address" "the pod listens on all of its addresses."
  "server.port" "the pod listens on 9090; service.port is the value for the port that callers use."
  "server.metricsPort" "the pod serves metrics on 9091."
  "server.tls" "set the value tls.existingSecret or tls.certManager.issuerRef instead."
  "authentication.oauthOptions.issuer" "set the value issuer instead."
  "authentication.tokenReview.callerTokenFile" "set the value tokenReview.existingSecret instead."
  "users.file" "set the value users.existingSecret instead."
  "accounts.enabled" "set the value accounts.enabled instead."
  "gateway.enabled" "set the value gateway.enabled instead."
  "gateway.users" "set the value gateway.users instead, which the rights in the cluster follow."
  "gateway.accounts" "set the value gateway.accounts instead, which the rights in the cluster follow."
  "logging.host" "set the value logging.host instead."
  "logging.username" "set the value logging.username instead."
  "logging.passwordFile" "set the value logging.existingSecret instead."
  "monitoring.prometheus" "set the value monitoring.prometheus instead."
  "monitoring.username" "set the value monitoring.username instead."
  "monitoring.passwordFile" "set the value monitoring.existingSecret instead."
  "monitoring.tokenFile" "set the value monitoring.existingSecret instead."
  "sessions.store" "set the value sessions.store instead."
  "kubernetes.kubeconfig" "the pod uses its own service account."
  "kubernetes.namespace" "the pod's rights are in its own namespace."
-}}
{{- range $path, $sentence := $instead -}}
{{- $at := $config -}}
{{- range splitList "." $path -}}
{{- $at = ternary (get (ternary $at (dict) (kindIs "map" $at)) .) nil (kindIs "map" $at) -}}
{{- end -}}
{{- if or (not (empty $at)) (kindIs "bool" $at) -}}
{{- include "gatehouse.problem" (printf "config.%s is not for the chart's config: %s" $path $sentence) -}}
{{- end -}}
{{- end -}}
{{- range dig "authentication" "oauthOptions" "clients" (list) $config -}}
{{- if .secret -}}
{{- include "gatehouse.problem" (printf "the OAuth client %q has a secret in config, which would end up in a ConfigMap; put it into a Secret, mount that by oauth.client.existingSecret or extraVolumes, and use secretFile." .name) -}}
{{- end -}}
{{- end -}}
{{- $clients := dig "authentication" "oauthOptions" "clients" (list) $config -}}
{{- $file := "/var/run/secrets/gatehouse/oauth-client/secret" -}}
{{- $files := list -}}
{{- range $clients -}}
{{- $files = append $files (.secretFile | default "") -}}
{{- end -}}
{{- if and .Values.oauth.client.existingSecret $clients (not (has $file $files)) -}}
{{- include "gatehouse.problem" (printf "oauth.client.existingSecret is set, but config.authentication.oauthOptions.clients lists other clients, so nothing reads that Secret; give one of them secretFile: %s, or leave oauth.client.existingSecret out." $file) -}}
{{- end -}}
{{- if and .Values.oauth.client.generate .Values.oauth.client.existingSecret -}}
{{- include "gatehouse.problem" (printf "oauth.client.generate is true, but oauth.client.existingSecret is %q, which has the secret already; leave one of them out." .Values.oauth.client.existingSecret) -}}
{{- end -}}
{{- if and .Values.oauth.client.generate $clients -}}
{{- include "gatehouse.problem" "oauth.client.generate is true, but config.authentication.oauthOptions.clients lists other clients; give one of them a secretName, or leave oauth.client.generate out." -}}
{{- end -}}
{{- if eq (toString (dig "users" "firstAdministrator" "" $config)) "true" -}}
{{- include "gatehouse.problem" "config.users.firstAdministrator is true: there is a first administrator unless it is false; leave it out, or give name, groups or secretName." -}}
{{- end -}}
{{- include "gatehouse.preflight.clients" . -}}
{{- $hash := dig "authentication" "passwordHash" dict $config -}}
{{- if gt (int (dig "cost" 10 $hash)) (int (dig "maxCost" 12 $hash)) -}}
{{- include "gatehouse.problem" (printf "config.authentication.passwordHash.cost is %d, which is above maxCost (%d)." (int (dig "cost" 10 $hash)) (int (dig "maxCost" 12 $hash))) -}}
{{- end -}}
{{- range .Files.Get "files/durations.json" | fromJsonArray -}}
{{- include "gatehouse.preflight.duration" (dict "limits" . "path" (splitList "." .setting) "at" $config "name" "config") -}}
{{- end -}}
{{- include "gatehouse.preflight.shutdownDelay" . -}}
{{- end }}

{{/* What the program asks of OAuth clients beyond their schema. */}}
{{- define "gatehouse.preflight.clients" -}}
{{- $names := list -}}
{{- range $index, $client := dig "authentication" "oauthOptions" "clients" (list) .Values.config -}}
{{- $setting := printf "config.authentication.oauthOptions.clients[%d]" $index -}}
{{- $proofs := compact (list $client.secretFile $client.secretName (ternary "public" "" (default false $client.public))) -}}
{{- if ne (len $proofs) 1 -}}
{{- include "gatehouse.problem" (printf "%s (%q) needs exactly one of secretFile, secretName and public: true." $setting $client.name) -}}
{{- end -}}
{{- if and $client.public (or (not $client.grantTypes) (has "password" $client.grantTypes)) -}}
{{- include "gatehouse.problem" (printf "%s (%q) is public, and a public client may not use the password grant; set its grantTypes to [refresh_token]." $setting $client.name) -}}
{{- end -}}
{{- if and $client.public $client.introspectAll -}}
{{- include "gatehouse.problem" (printf "%s (%q) is public, and a public client may not introspect tokens; leave its introspectAll out." $setting $client.name) -}}
{{- end -}}
{{- if has $client.name $names -}}
{{- include "gatehouse.problem" (printf "%s has the name %q, which an earlier client has." $setting $client.name) -}}
{{- end -}}
{{- $names = append $names $client.name -}}
{{- end -}}
{{- end }}

{{/* Walks down to a duration, and compares it with its limits. */}}
{{- define "gatehouse.preflight.duration" -}}
{{- $context := . -}}
{{- if .path -}}
{{- $key := first .path | trimSuffix "[]" -}}
{{- $below := kindIs "map" .at | ternary (get (kindIs "map" .at | ternary .at dict) $key) nil -}}
{{- if hasSuffix "[]" (first .path) -}}
{{- range $index, $one := $below | default list -}}
{{- include "gatehouse.preflight.duration" (dict "limits" $context.limits "path" (rest $context.path) "at" $one "name" (printf "%s.%s[%d]" $context.name $key $index)) -}}
{{- end -}}
{{- else -}}
{{- include "gatehouse.preflight.duration" (dict "limits" .limits "path" (rest .path) "at" $below "name" (printf "%s.%s" .name $key)) -}}
{{- end -}}
{{- /* The schema lets texts through, and 0 without a unit. */ -}}
{{- else if not (or (kindIs "invalid" .at) (has (toString .at) (list "" "none"))) -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "µs" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 -}}
{{- $ms := 0.0 -}}
{{- range regexFindAll "[0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h)" (toString .at) -1 -}}
{{- $unit := regexFind "[a-zµ]+$" . -}}
{{- $ms = addf $ms (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $zero := and (eq $ms 0.0) (hasPrefix "0," .limits.limits) -}}
{{- if and (not $zero) (or (lt $ms (float64 .limits.minMs)) (and .limits.maxMs (gt $ms (float64 .limits.maxMs)))) -}}
{{- include "gatehouse.problem" (printf "%s is %q, but has to be %s." .name (toString .at) .limits.limits) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.shutdownDelay" -}}
{{- $delay := toString (dig "server" "shutdownDelay" "15s" .Values.config) -}}
{{- if not (regexMatch "^[0-9]{1,3}s$" $delay) -}}
{{- include "gatehouse.problem" (printf "config.server.shutdownDelay is %q: write it in whole seconds, such as 15s; the pod's grace period is computed from it." $delay) -}}
{{- end -}}
{{- $streams := toString (dig "server" "streamDrain" "60s" .Values.config) -}}
{{- if not (regexMatch "^[0-9]{1,4}s$" $streams) -}}
{{- include "gatehouse.problem" (printf "config.server.streamDrain is %q: write it in whole seconds, such as 60s; the pod's grace period is computed from it." $streams) -}}
{{- end -}}
{{- $replicas := include "gatehouse.mostReplicas" . | int -}}
{{- if and (gt $replicas 1) (lt (trimSuffix "s" $delay | int) 5) (not .Values.allow.shortShutdownDelay) -}}
{{- include "gatehouse.problem" (printf "config.server.shutdownDelay is %s with %d replicas: the others get a replica's requests only after the cluster has learned that it stops, which takes seconds; set 5s or more, or allow.shortShutdownDelay to true." $delay $replicas) -}}
{{- end -}}
{{- end }}

{{/* Files that config names must be in a volume of the pod. */}}
{{- define "gatehouse.preflight.files" -}}
{{- $folders := include "gatehouse.mountPaths" . | fromYamlArray -}}
{{- range .Values.extraVolumeMounts -}}
{{- $folders = append $folders (clean .mountPath) -}}
{{- end -}}
{{- $files := dict -}}
{{- range $index, $client := dig "authentication" "oauthOptions" "clients" (list) .Values.config -}}
{{- with $client.secretFile -}}
{{- $_ := set $files (printf "authentication.oauthOptions.clients[%d].secretFile" $index) . -}}
{{- end -}}
{{- end -}}
{{- with dig "authentication" "tokenReview" "clientCAFile" "" .Values.config -}}
{{- $_ := set $files "authentication.tokenReview.clientCAFile" . -}}
{{- end -}}
{{- with dig "logging" "caFile" "" .Values.config -}}
{{- $_ := set $files "logging.caFile" . -}}
{{- end -}}
{{- with dig "monitoring" "caFile" "" .Values.config -}}
{{- $_ := set $files "monitoring.caFile" . -}}
{{- end -}}
{{- range $setting, $file := $files -}}
{{- $mounted := false -}}
{{- range $folders -}}
{{- if or (eq . (clean $file)) (hasPrefix (print . "/") (clean $file)) -}}
{{- $mounted = true -}}
{{- end -}}
{{- end -}}
{{- if not $mounted -}}
{{- include "gatehouse.problem" (printf "config.%s is %q, which is in no volume of the pod; mount it with extraVolumes and extraVolumeMounts." $setting $file) -}}
{{- end -}}
{{- end -}}
{{- if hasKey $files "authentication.tokenReview.clientCAFile" -}}
{{- if not (include "gatehouse.tlsSecret" .) -}}
{{- include "gatehouse.problem" "config.authentication.tokenReview.clientCAFile is set, but tls.existingSecret is empty: without TLS no caller can show a client certificate; set tls.existingSecret or tls.certManager.issuerRef." -}}
{{- end -}}
{{- if not (dig "authentication" "tokenReview" "clientNames" (list) .Values.config) -}}
{{- include "gatehouse.problem" "config.authentication.tokenReview.clientCAFile is set, but config.authentication.tokenReview.clientNames is empty: name the certificate holders that may ask." -}}
{{- end -}}
{{- end -}}
{{- end }}
