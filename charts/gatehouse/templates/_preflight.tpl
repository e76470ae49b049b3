{{/* Values that are fine one by one and contradict each other. Each ends the rendering with a sentence. */}}
{{- define "gatehouse.preflight" -}}
{{- if and (gt (int .Values.replicaCount) 1) (eq .Values.sessions.store "memory") -}}
{{- fail (printf "replicaCount is %d, but sessions.store is memory: replicas would not see each other's sessions; set sessions.store to kubernetes, or replicaCount to 1." (int .Values.replicaCount)) -}}
{{- end -}}
{{- if eq .Values.service.type "ClusterIP" -}}
{{- if .Values.service.nodePort -}}
{{- fail "service.nodePort is set, but service.type is ClusterIP, which has none; set service.type to NodePort or leave service.nodePort out." -}}
{{- end -}}
{{- if eq .Values.service.externalTrafficPolicy "Local" -}}
{{- fail "service.externalTrafficPolicy is Local, but service.type is ClusterIP, which gets no outside traffic; set service.type to NodePort or LoadBalancer." -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor (not .Values.metrics.service) -}}
{{- fail "metrics.serviceMonitor is true, but metrics.service is false: a ServiceMonitor finds the pods through that Service; set both." -}}
{{- end -}}
{{- include "gatehouse.preflight.config" . -}}
{{- end }}

{{/* What may not stand in .Values.config: what a value decides, what the pod's shape decides, and secrets. */}}
{{- define "gatehouse.preflight.config" -}}
{{- $config := .Values.config -}}
{{- $instead := dict
  "platform" "set the value platform instead."
  "server.port" "the pod listens on 9090; service.port is the value for the port that callers use."
  "server.metricsPort" "the pod serves metrics on 9091."
  "server.tls" "set the value tls.existingSecret instead."
  "authentication.oauthOptions.issuer" "set the value issuer instead."
  "authentication.tokenReview.callerTokenFile" "set the value tokenReview.existingSecret instead."
  "users.file" "set the value users.existingSecret instead."
  "sessions.store" "set the value sessions.store instead."
  "kubernetes.kubeconfig" "the pod uses its own service account."
  "kubernetes.namespace" "the pod's rights are in its own namespace."
-}}
{{- range $path, $sentence := $instead -}}
{{- $at := $config -}}
{{- range splitList "." $path -}}
{{- $at = ternary (get (ternary $at (dict) (kindIs "map" $at)) .) nil (kindIs "map" $at) -}}
{{- end -}}
{{- if not (empty $at) -}}
{{- fail (printf "config.%s is not for the chart's config: %s" $path $sentence) -}}
{{- end -}}
{{- end -}}
{{- range dig "authentication" "oauthOptions" "clients" (list) $config -}}
{{- if .secret -}}
{{- fail (printf "the OAuth client %q has a secret in config, which would end up in a ConfigMap; put it into a Secret, name that in oauth.client.existingSecret and use secretFile." .name) -}}
{{- end -}}
{{- end -}}
{{- $delay := dig "server" "shutdownDelay" "15s" $config -}}
{{- if not (regexMatch "^[0-9]{1,3}s$" (toString $delay)) -}}
{{- fail (printf "config.server.shutdownDelay is %q: write it in whole seconds, such as 15s; the pod's grace period is computed from it." (toString $delay)) -}}
{{- end -}}
{{- end }}
