{{/* What contradicts itself about the lists of kinds, or would grant more than a list needs. */}}
{{- define "gatehouse.preflight.kinds" -}}
{{- $kinds := .Values.kinds -}}
{{- $config := dig "kinds" dict .Values.config -}}
{{- $isOff := not (dig "enabled" true $config) -}}
{{- if and $isOff (eq $kinds.rights "all") -}}
{{- include "gatehouse.problem" "kinds.rights is all, but config.kinds.enabled is false: nothing would use these rights; leave one of them out." -}}
{{- end -}}
{{- if $kinds.extraRules -}}
{{- if $isOff -}}
{{- include "gatehouse.problem" "kinds.extraRules is set, but config.kinds.enabled is false: nothing would use these rights; leave one of them out." -}}
{{- else if eq $kinds.rights "none" -}}
{{- include "gatehouse.problem" "kinds.extraRules is set, but kinds.rights is none, which grants nothing; set kinds.rights to named, or leave the rules out." -}}
{{- end -}}
{{- if not .Values.rbac.create -}}
{{- include "gatehouse.problem" "kinds.extraRules is set, but rbac.create is false: the chart grants nothing; set rbac.create to true, or grant the rights yourself." -}}
{{- end -}}
{{- end -}}
{{- $readsSecrets := include "gatehouse.readsAllSecrets" . -}}
{{- range $kinds.extraRules -}}
{{- $isOfCore := or (has "" .apiGroups) (has "*" .apiGroups) -}}
{{- if has "*" .apiGroups -}}
{{- include "gatehouse.problem" "kinds.extraRules has * among its apiGroups, which is every resource of that name, present and future; name the groups, or set kinds.rights to all." -}}
{{- else if and $isOfCore (has "*" .resources) -}}
{{- include "gatehouse.problem" "kinds.extraRules has * among its resources of the core group, which covers pods/exec and Secrets; name the resources." -}}
{{- end -}}
{{- end -}}
{{- if and (eq (dig "secrets" "none" $config) "metadata") (not $isOff) .Values.rbac.create (not $readsSecrets) -}}
{{- include "gatehouse.problem" "config.kinds.secrets is metadata, but the service account may not list Secrets. Kubernetes knows no right to metadata alone, so the right covers every password of the cluster: add {apiGroups: [''], resources: [secrets], verbs: [list, watch]} to kinds.extraRules if you want that, or leave config.kinds.secrets out." -}}
{{- end -}}
{{- if and (not (eq (dig "secrets" "none" $config) "metadata")) (ne $kinds.rights "all") $readsSecrets -}}
{{- include "gatehouse.problem" "kinds.extraRules has secrets, but config.kinds.secrets is none: Gatehouse would not use a right that covers every password of the cluster; set config.kinds.secrets to metadata, or leave the rule out." -}}
{{- end -}}
{{- $memory := dig "memory" "" $config -}}
{{- $limit := toString .Values.resources.limits.memory -}}
{{- $ours := include "gatehouse.megabytes" $memory | float64 -}}
{{- $all := include "gatehouse.megabytes" $limit | float64 -}}
{{- if and (gt $all 0.0) (ge $ours $all) -}}
{{- include "gatehouse.problem" (printf "config.kinds.memory is %s, but resources.limits.memory is %s: the container would be killed before the kinds have that much; raise the limit by as much as the kinds get, or lower config.kinds.memory." $memory $limit) -}}
{{- end -}}
{{- end }}

{{/* An amount of memory in millions of bytes, or 0 where it has no unit that config.kinds.memory may have. */}}
{{- define "gatehouse.megabytes" -}}
{{- $units := dict "M" 1.0 "G" 1000.0 "T" 1000000.0 "Mi" 1.048576 "Gi" 1073.741824 "Ti" 1099511.627776 -}}
{{- $unit := regexFind "[MGT]i?$" . -}}
{{- if and $unit (regexMatch "^[0-9]+([.][0-9]+)?[MGT]i?$" .) -}}
{{- mulf (trimSuffix $unit . | float64) (get $units $unit) -}}
{{- else -}}
0
{{- end -}}
{{- end }}
