{{/* What contradicts itself about users as objects. */}}
{{- define "gatehouse.preflight.accounts" -}}
{{- $accounts := .Values.accounts -}}
{{- if $accounts.enabled -}}
{{- if semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version -}}
{{- include "gatehouse.problem" (printf "accounts.enabled is true, but the cluster is %s: users are guarded by a ValidatingAdmissionPolicy, which clusters have from 1.30 on; upgrade the cluster, or set accounts.enabled to false." .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and $accounts.crds.install (eq (dig "accounts" "passwordStore" "secret" .Values.config) "userObject") -}}
{{- include "gatehouse.problem" "config.accounts.passwordStore is userObject, but accounts.crds.install is true: the chart's definition of users has no spec.password, so the cluster would drop the hashes; set accounts.crds.install to false where the definitions of KubeSphere 3.4 are, or leave config.accounts.passwordStore out." -}}
{{- end -}}
{{- range $kind := list "users" "groups" -}}
{{- range get $accounts.roleAssigners $kind -}}
{{- if or (hasPrefix "system:" .) (hasPrefix "kubeadm:" .) -}}
{{- include "gatehouse.problem" (printf "accounts.roleAssigners.%s has %q, which belongs to Kubernetes: Gatehouse would get the rights of that name; name people or groups of the platform." $kind .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range list "system:authenticated" "system:unauthenticated" "system:serviceaccounts" -}}
{{- if has . $accounts.objectWriters.groups -}}
{{- include "gatehouse.problem" (printf "accounts.objectWriters.groups has %q: then everybody whom the cluster's roles let could write users past Gatehouse, and give themselves groups; name a group of people." .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
