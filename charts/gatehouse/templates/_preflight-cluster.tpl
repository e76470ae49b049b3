{{/* What only the cluster can tell. "helm template" and a dry run of the client ask no cluster: they find nothing here. */}}
{{- define "gatehouse.preflight.cluster" -}}
{{- include "gatehouse.preflight.guards" . -}}
{{- $config := include "gatehouse.config" . | fromYaml -}}
{{- $installed := include "gatehouse.installedConfig" . | fromYaml -}}
{{- $kept := dig "sessions" "store" "memory" $installed -}}
{{- if and (eq $kept "kubernetes") (eq $config.sessions.store "memory") (not .Values.allow.forgetEndedSessions) -}}
{{- include "gatehouse.problem" "sessions.store is memory, but the installed release keeps its sessions in Secrets: the access tokens of ended sessions would be good again until they expire, and everybody would have to sign in again; keep sessions.store: kubernetes, or set allow.forgetEndedSessions to true." -}}
{{- end -}}
{{- if not .Values.allow.sharedSecrets -}}
{{- range $instance, $charts := include "gatehouse.configsOfNamespace" . | fromYaml -}}
{{- if ne $instance $.Release.Name -}}
{{- range $theirs := $charts -}}
{{- $both := dict
  "config.keys.secretName" (list $config.keys.secretName (dig "keys" "secretName" "" $theirs))
  "config.users.firstAdministrator.secretName" (list
    (dig "users" "firstAdministrator" dict $config | default dict).secretName
    (dig "users" "firstAdministrator" dict $theirs | default dict).secretName)
  "sessions.store" (list
    (eq $config.sessions.store "kubernetes" | ternary (print $config.platform "-sessions-…") "")
    (eq (dig "sessions" "store" "" $theirs) "kubernetes" | ternary (print (dig "platform" "" $theirs) "-sessions-…") ""))
-}}
{{- range $value, $names := $both -}}
{{- if and (first $names) (eq (first $names) (last $names | default "")) -}}
{{- include "gatehouse.problem" (printf "the release %q of this namespace has the Secret %q too (%s): both would share what is in it; install into a namespace of its own, set another platform, or set allow.sharedSecrets to true." $instance (first $names) $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The configurations in this namespace, by release and then by chart: what Deployments of Gatehouse name. These are known by the file
     that they are started with, because all names and labels may be others: by "nameOverride" and "fullnameOverride", and in a
     release that has this chart as a dependency under another name, or under several. Helm takes that name for the chart's. */}}
{{- define "gatehouse.configsOfNamespace" -}}
{{- $files := dict -}}
{{- range (lookup "v1" "ConfigMap" .Release.Namespace "").items -}}
{{- $_ := set $files .metadata.name (dig "data" "config.yaml" "" .) -}}
{{- end -}}
{{- $configs := dict -}}
{{- range (lookup "apps/v1" "Deployment" .Release.Namespace "").items -}}
{{- $file := get $files (include "gatehouse.configMapOf" .) -}}
{{- if and $file (has "/etc/gatehouse/config.yaml" (first .spec.template.spec.containers).args) -}}
{{- $instance := dig "labels" "app.kubernetes.io/instance" "" .metadata -}}
{{- $chart := regexReplaceAll "-[0-9]+[.][0-9]+[.][0-9]+.*$" (dig "labels" "helm.sh/chart" "" .metadata) "" -}}
{{- $_ := set $configs $instance (set (get $configs $instance | default dict) $chart (fromYaml $file)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $configs -}}
{{- end }}

{{/* The configuration of this chart in this release as it is installed before the upgrade; empty on an install, and where no cluster is
     asked. */}}
{{- define "gatehouse.installedConfig" -}}
{{- dig .Release.Name .Chart.Name dict (include "gatehouse.configsOfNamespace" . | fromYaml) | toYaml -}}
{{- end }}

{{/* What is no reason to stop, but has to be said. One line each. */}}
{{- define "gatehouse.warnings" -}}
{{- $before := dig "platform" "" (include "gatehouse.installedConfig" . | fromYaml) -}}
{{- if and $before (ne $before .Values.platform) }}
WARNING: platform was {{ $before }} and is {{ .Values.platform }} now. Everybody has to sign in again, with new keys and a new first administrator; rights on resources.{{ $before }}.io and membership of {{ $before }}-admins no longer count; clients must call the new paths. The old Secrets stay.
{{- end }}
{{- $issuer := dig "authentication" "oauthOptions" "issuer" "" (include "gatehouse.installedConfig" . | fromYaml) -}}
{{- $next := (include "gatehouse.config" . | fromYaml).authentication.oauthOptions.issuer -}}
{{- if and $issuer (ne $issuer $next) }}
WARNING: issuer was {{ $issuer }} and is {{ $next }} now. Every session ends: everybody has to sign in again, and API servers and applications that trust tokens have to be told the new issuer.
{{- end }}
{{- if and (dig "accounts" "enabled" false (include "gatehouse.installedConfig" . | fromYaml)) (not .Values.accounts.enabled) }}
WARNING: accounts.enabled was true and is false now. The users stay in the cluster, but none of them can sign in; those of the users file and the first administrator can.
{{- end }}
{{- if (lookup "v1" "ConfigMap" .Release.Namespace "").kind }}
{{- $secrets := (include "gatehouse.mountedSecrets" . | fromYaml).mounted }}
{{- range .Values.imagePullSecrets }}
{{- $secrets = append $secrets (dict "value" "imagePullSecrets" "secret" .name "key" ".dockerconfigjson") }}
{{- end }}
{{- if and .Values.helmTest.enabled .Values.helmTest.existingSecret }}
{{- $secrets = append $secrets (dict "value" "helmTest.existingSecret" "secret" .Values.helmTest.existingSecret "key" "password") }}
{{- end }}
{{- range $secrets }}
{{- $found := lookup "v1" "Secret" $.Release.Namespace .secret }}
{{- if not $found }}
WARNING: {{ .value }} names the Secret {{ .secret }}, which is not in the namespace yet. The pods that use it wait for it.
{{- else if not (hasKey ($found.data | default dict) .key) }}
WARNING: {{ .value }} names the Secret {{ .secret }}, which has no key {{ .key }}. The pods that use it fail.
{{- end }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (not (lookup "v1" "ServiceAccount" .Release.Namespace .Values.serviceAccount.name)) }}
WARNING: serviceAccount.name is {{ .Values.serviceAccount.name }}, which is not in the namespace yet. The pods start when it is there.
{{- end }}
{{- end }}
{{- if eq .Values.sessions.store "memory" }}
WARNING: sessions.store is memory. Each restart of the pod forgets which sessions were ended: their access tokens are good again until they expire, and everybody has to sign in again when theirs has expired.
{{- end }}
{{- if and .Values.rbac.create (include "gatehouse.grantsKinds" .) (include "gatehouse.readsAllSecrets" .) }}
WARNING: {{ ternary "kinds.rights is all" "kinds.extraRules has secrets" (eq .Values.kinds.rights "all") }}. The service account may list every Secret of the cluster: a thief of its token has every password and token in them.
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not .Values.issuer) }}
WARNING: issuer is empty, so tokens name {{ include "gatehouse.url" . }}/oauth, which cannot be reached from outside. Set it before people sign in.
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (dig "authentication" "trustedProxies" (list) .Values.config)) }}
WARNING: config.authentication.trustedProxies is empty, so everybody who comes by the {{ ternary "Ingress" "HTTPRoute" .Values.ingress.enabled }} has the address of its controller, and shares its limit of failed sign-ins. Name the addresses of the controller's pods, for example config: {authentication: {trustedProxies: [10.244.0.0/16]}}.
{{- end }}
{{- end }}
