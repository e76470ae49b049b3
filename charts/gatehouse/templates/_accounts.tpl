{{/* The service account as the cluster names it in requests. */}}
{{- define "gatehouse.accountUser" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "gatehouse.serviceAccountName" . }}
{{- end }}

{{/* The name of the policy on users and login records, which must be a DNS name. A namespace has no dot, so two releases never meet in one. */}}
{{- define "gatehouse.policyName" -}}
{{ .Release.Namespace }}.{{ include "gatehouse.fullname" . }}.accounts
{{- end }}

{{/* Those who may give roles through Gatehouse: their names, or their groups, as a JSON list. */}}
{{- define "gatehouse.roleAssigners" -}}
{{- $administrator := (include "gatehouse.config" .root | fromYaml).users.firstAdministrator -}}
{{- $usual := list -}}
{{- if eq .of "groups" -}}
{{- $usual = list (print .root.Values.platform "-admins") -}}
{{- else if $administrator -}}
{{- $usual = list ($administrator.name | default "admin") -}}
{{- end -}}
{{- get .root.Values.accounts.roleAssigners .of | default $usual | toJson -}}
{{- end }}

{{/* What a platform administrator may do. */}}
{{- define "gatehouse.platformAdminRules" -}}
- apiGroups: [iam.{{ .Values.platform }}.io, resources.{{ .Values.platform }}.io, tenant.{{ .Values.platform }}.io]
  resources: ['*']
  verbs: ['*']
# Gives and takes platform roles. Bindings are written as the caller, so the cluster asks for these of him. A delete cannot be limited
# to the bindings that Gatehouse keeps.
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterrolebindings]
  verbs: [create, delete, get, list]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterroles]
  resourceNames: [platform-admin, platform-regular, users-manager]
  verbs: [bind]
{{- end }}

{{/* Metadata of a role that people may be given: (list root menus). The menus are those that the console of KubeSphere shows to who has the role. */}}
{{- define "gatehouse.platformRoleMetadata" -}}
{{- $menus := last . -}}
{{- with first . -}}
labels:
  {{- include "gatehouse.labels" . | nindent 2 }}
  iam.{{ .Values.platform }}.io/assignable: 'true'
annotations:
  {{ .Values.platform }}.io/creator: system
  iam.{{ .Values.platform }}.io/role-template-rules: '{{ toJson $menus }}'
  {{- if .Values.accounts.crds.keep }}
  # The bindings of the users who have it stay at an uninstall, and so does it.
  helm.sh/resource-policy: keep
  {{- end }}
  {{- with .Values.commonAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
