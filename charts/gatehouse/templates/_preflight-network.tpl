{{- define "gatehouse.preflight.service" -}}
{{- $service := .Values.service -}}
{{- if eq $service.type "ClusterIP" -}}
{{- if $service.nodePort -}}
{{- include "gatehouse.problem" "service.nodePort is set, but service.type is ClusterIP, which has none; set service.type to NodePort or leave service.nodePort out." -}}
{{- end -}}
{{- if eq $service.externalTrafficPolicy "Local" -}}
{{- include "gatehouse.problem" "service.externalTrafficPolicy is Local, but service.type is ClusterIP, which gets no outside traffic; set service.type to NodePort or LoadBalancer." -}}
{{- end -}}
{{- end -}}
{{- if and (eq $service.ipFamilyPolicy "SingleStack") (gt (len ($service.ipFamilies | default list)) 1) -}}
{{- include "gatehouse.problem" "service.ipFamilies has two families, but service.ipFamilyPolicy is SingleStack; name one of them, or set service.ipFamilyPolicy to PreferDualStack." -}}
{{- end -}}
{{- if eq $service.clusterIP "None" -}}
{{- include "gatehouse.problem" "service.clusterIP is None: callers would reach the pods on their own port, and not on service.port; name an address, or leave service.clusterIP out." -}}
{{- end -}}
{{- if and $service.sessionAffinityConfig (ne $service.sessionAffinity "ClientIP") -}}
{{- include "gatehouse.problem" "service.sessionAffinityConfig is set, but service.sessionAffinity is None; set service.sessionAffinity to ClientIP, or leave service.sessionAffinityConfig out." -}}
{{- end -}}
{{- range list "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges" -}}
{{- if and (get $service .) (ne $service.type "LoadBalancer") -}}
{{- include "gatehouse.problem" (printf "service.%s is set, but service.type is %s; set service.type to LoadBalancer or leave service.%s out." . $service.type .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.routes" -}}
{{- $ingress := .Values.ingress -}}
{{- if and $ingress.enabled (not $ingress.hosts) -}}
{{- include "gatehouse.problem" "ingress.enabled is true, but ingress.hosts is empty: an Ingress without a host would take every request of its controller; name the hosts." -}}
{{- end -}}
{{- if and $ingress.paths (or (ne $ingress.path "/") (ne $ingress.pathType "Prefix")) -}}
{{- include "gatehouse.problem" (printf "ingress.paths is set, but so is ingress.path or ingress.pathType (%s, %s), which would have no effect; put that path into ingress.paths." $ingress.path $ingress.pathType) -}}
{{- end -}}
{{- $seen := list -}}
{{- range $ingress.paths -}}
{{- $path := printf "%s (%s)" .path (.pathType | default "Prefix") -}}
{{- if has $path $seen -}}
{{- include "gatehouse.problem" (printf "ingress.paths has the path %s twice; leave one of them out." $path) -}}
{{- end -}}
{{- $seen = append $seen $path -}}
{{- end -}}
{{- range $entry := $ingress.tls -}}
{{- range $host := $entry.hosts -}}
{{- if not (has $host $ingress.hosts) -}}
{{- include "gatehouse.problem" (printf "ingress.tls names the host %q, which ingress.hosts does not have; add it there or leave it out." $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- include "gatehouse.problem" "httpRoute.enabled is true, but httpRoute.parentRefs is empty: no Gateway would serve the route; name the Gateways." -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.alerts" -}}
{{- $known := list -}}
{{- range (.Files.Get "files/rules.yaml" | fromYaml).groups -}}
{{- range .rules -}}
{{- $known = append $known .alert -}}
{{- end -}}
{{- end -}}
{{- range .Values.prometheusRule.disabled -}}
{{- if not (has . $known) -}}
{{- include "gatehouse.problem" (printf "prometheusRule.disabled names %q, which is no alert of this chart; docs/operations/monitoring.md lists them." .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "gatehouse.preflight.metrics" -}}
{{- $metrics := .Values.metrics -}}
{{- if and $metrics.serviceMonitor.enabled (not $metrics.service) -}}
{{- include "gatehouse.problem" "metrics.serviceMonitor.enabled is true, but metrics.service is false: a ServiceMonitor finds the pods through that Service; set both, or use metrics.podMonitor." -}}
{{- end -}}
{{- range list "serviceAnnotations" "serviceLabels" -}}
{{- if and (get $metrics .) (not $metrics.service) -}}
{{- include "gatehouse.problem" (printf "metrics.%s is set, but metrics.service is false; set metrics.service to true or leave metrics.%s out." . .) -}}
{{- end -}}
{{- end -}}
{{- if and $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled -}}
{{- include "gatehouse.problem" "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true: each sample would be scraped twice; set one of them to false." -}}
{{- end -}}
{{- $speaks := include "gatehouse.scheme" . -}}
{{- $tls := include "gatehouse.tlsValue" . -}}
{{- range $name := list "serviceMonitor" "podMonitor" -}}
{{- $monitor := get $metrics $name -}}
{{- if $monitor.enabled -}}
{{- $scheme := $monitor.scheme | default $speaks -}}
{{- if ne $scheme $speaks -}}
{{- include "gatehouse.problem" (printf "metrics.%s.scheme is %s, but the metrics port speaks %s, as %s decides; leave metrics.%s.scheme out." $name $scheme $speaks $tls $name) -}}
{{- end -}}
{{- if and (eq $scheme "https") (not $monitor.tlsConfig) -}}
{{- include "gatehouse.problem" (printf "metrics.%s.tlsConfig is empty, but %s makes the metrics port speak HTTPS, and a certificate is never made out for the addresses of pods: set serverName to a name in the certificate, and ca where no public authority signed it." $name $tls) -}}
{{- end -}}
{{- if and (eq $scheme "http") $monitor.tlsConfig -}}
{{- include "gatehouse.problem" (printf "metrics.%s.tlsConfig is set, but the metrics port speaks HTTP; set tls.existingSecret or leave metrics.%s.tlsConfig out." $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What contradicts itself about the serving certificate. */}}
{{- define "gatehouse.preflight.certificate" -}}
{{- $certManager := .Values.tls.certManager -}}
{{- if and $certManager.issuerRef.name .Values.tls.existingSecret -}}
{{- include "gatehouse.problem" (printf "tls.certManager.issuerRef.name is %q, but tls.existingSecret is %q, and one certificate is served; leave one of them out." $certManager.issuerRef.name .Values.tls.existingSecret) -}}
{{- end -}}
{{- if not $certManager.issuerRef.name -}}
{{- range list "hosts" "duration" "renewBefore" "annotations" "labels" -}}
{{- if get $certManager . -}}
{{- include "gatehouse.problem" (printf "tls.certManager.%s is set, but tls.certManager.issuerRef.name is empty: no Certificate is made; name the issuer, or leave tls.certManager.%s out." . .) -}}
{{- end -}}
{{- end -}}
{{- else if not (or $certManager.serviceNames $certManager.hosts) -}}
{{- include "gatehouse.problem" "tls.certManager.serviceNames is false, but tls.certManager.hosts is empty: the certificate would have no name; name the hosts." -}}
{{- end -}}
{{- end }}
