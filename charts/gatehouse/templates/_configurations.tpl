{{/* The name of the ConfigMap with the configuration file. It follows from the content: another configuration is another object, and
     what a pod was made with never changes. */}}
{{- define "gatehouse.configMapName" -}}
{{ include "gatehouse.fullname" . }}-config-{{ include "gatehouse.config" . | sha256sum | trunc 10 }}
{{- end }}

{{/* Neither an upgrade nor a rollback takes it away from pods that read it. The first is for Helm, the others are for Argo CD and Flux,
     which delete what is no longer rendered. */}}
{{- define "gatehouse.keptAnnotations" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false
argocd.argoproj.io/compare-options: IgnoreExtraneous
kustomize.toolkit.fluxcd.io/prune: disabled
{{- end }}

{{/* The common annotations that are none of these. */}}
{{- define "gatehouse.annotationsBeside" -}}
{{- $kept := include "gatehouse.keptAnnotations" . | fromYaml -}}
{{- $others := dict -}}
{{- range $key, $value := .Values.commonAnnotations -}}
{{- if not (hasKey $kept $key) -}}
{{- $_ := set $others $key $value -}}
{{- end -}}
{{- end -}}
{{- with $others -}}
{{- toYaml . -}}
{{- end -}}
{{- end }}

{{/* The ConfigMaps of earlier revisions that this one renders again. Those that a ReplicaSet or the installed Deployment names are kept:
     old pods serve on while new ones do not get ready, and read theirs again whenever they start. Another one is rendered once more
     without the annotations, so that Helm deletes it at the upgrade after that. Where no cluster is asked there are none.
     Other charts may be in the release, this one a second time among them, so the name says whose a ConfigMap is: that of
     "gatehouse.configMapName", or the full name alone, as earlier charts had it. */}}
{{- define "gatehouse.earlierConfigMaps" -}}
{{- $current := include "gatehouse.configMapName" . -}}
{{- $named := include "gatehouse.namedConfigMaps" . | fromYamlArray -}}
{{- $ours := printf "^%s(-config-[0-9a-f]{10})?$" (include "gatehouse.fullname" . | regexQuoteMeta) -}}
{{- $earlier := list -}}
{{- range (lookup "v1" "ConfigMap" .Release.Namespace "").items -}}
{{- $release := dig "annotations" "meta.helm.sh/release-name" "" .metadata -}}
{{- if and (eq $release $.Release.Name) (regexMatch $ours .metadata.name) (hasKey (.data | default dict) "config.yaml") (ne .metadata.name $current) -}}
{{- $isNamed := has .metadata.name $named -}}
{{- if or $isNamed (eq (dig "annotations" "helm.sh/resource-policy" "" .metadata) "keep") -}}
{{- $earlier = append $earlier (dict "name" .metadata.name "labels" .metadata.labels "immutable" .immutable "data" .data "keep" $isNamed) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $earlier -}}
{{- end }}

{{/* The names of the ConfigMaps that pods of this release are made with, or can be made with again by "kubectl rollout undo". */}}
{{- define "gatehouse.namedConfigMaps" -}}
{{- $names := list -}}
{{- range $kind := list "ReplicaSet" "Deployment" -}}
{{- range (lookup "apps/v1" $kind $.Release.Namespace "").items -}}
{{- if eq (dig "labels" "app.kubernetes.io/instance" "" .metadata) $.Release.Name -}}
{{- $names = append $names (include "gatehouse.configMapOf" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $names | uniq | toYaml -}}
{{- end }}

{{/* The name of the ConfigMap that the pods of a Deployment or a ReplicaSet read. */}}
{{- define "gatehouse.configMapOf" -}}
{{- range dig "spec" "template" "spec" "volumes" (list) . -}}
{{- if eq .name "config" -}}
{{- dig "configMap" "name" "" . -}}
{{- end -}}
{{- end -}}
{{- end }}
