{{/* Whether the service account gets rights of its own for the kinds that it lists: "true" or "". */}}
{{- define "gatehouse.grantsKinds" -}}
{{- if and (dig "kinds" "enabled" true .Values.config) (ne .Values.kinds.rights "none") -}}
true
{{- end -}}
{{- end }}

{{/* Kubernetes' own resources that can be listed, by API group. Secrets are not among them, and events only where they are listed or searched. No entry
     covers a subresource: "get" on pods/exec would run programs in pods. */}}
{{- define "gatehouse.ownKinds" -}}
'': [configmaps, endpoints, limitranges, persistentvolumeclaims, persistentvolumes, pods, podtemplates, replicationcontrollers, resourcequotas, serviceaccounts, services]
admissionregistration.k8s.io: [mutatingadmissionpolicies, mutatingadmissionpolicybindings, mutatingwebhookconfigurations, validatingadmissionpolicies, validatingadmissionpolicybindings, validatingwebhookconfigurations]
apiextensions.k8s.io: [customresourcedefinitions]
apiregistration.k8s.io: [apiservices]
apps: [controllerrevisions, daemonsets, deployments, replicasets, statefulsets]
autoscaling: [horizontalpodautoscalers]
batch: [cronjobs, jobs]
certificates.k8s.io: [certificatesigningrequests]
coordination.k8s.io: [leases]
discovery.k8s.io: [endpointslices]
flowcontrol.apiserver.k8s.io: [flowschemas, prioritylevelconfigurations]
networking.k8s.io: [ingressclasses, ingresses, ipaddresses, networkpolicies, servicecidrs]
node.k8s.io: [runtimeclasses]
policy: [poddisruptionbudgets]
rbac.authorization.k8s.io: [clusterrolebindings, clusterroles, rolebindings, roles]
resource.k8s.io: [deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices]
scheduling.k8s.io: [priorityclasses]
snapshot.storage.k8s.io: [volumesnapshotclasses, volumesnapshotcontents, volumesnapshots]
storage.k8s.io: [csidrivers, csinodes, csistoragecapacities, storageclasses, volumeattachments, volumeattributesclasses]
{{- end }}

{{/* The rules for the kinds that Gatehouse lists. */}}
{{- define "gatehouse.kindRules" -}}
{{- range $group, $resources := include "gatehouse.ownKinds" . | fromYaml }}
- apiGroups: [{{ $group | default "''" }}]
  resources: {{ printf "[%s]" (join ", " $resources) }}
  verbs: [get, list, watch]
{{- end }}
# Workspaces and their members, where the cluster has them.
- apiGroups: [tenant.{{ .Values.platform }}.io]
  resources: [workspaces, workspacetemplates]
  verbs: [get, list, watch]
- apiGroups: [iam.{{ .Values.platform }}.io]
  resources: [workspacerolebindings, workspaceroles]
  verbs: [get, list, watch]
{{- if or (dig "kinds" "events" false .Values.config) (dig "events" "live" false .Values.config) }}
- apiGroups: ['', events.k8s.io]
  resources: [events]
  verbs: [get, list, watch]
{{- end }}
{{- if eq .Values.kinds.rights "all" }}
# All others, Secrets among them. "get" is not here: on every resource it would also cover pods/exec and nodes/proxy.
- apiGroups: ['*']
  resources: ['*']
  verbs: [list, watch]
{{- end }}
{{- range .Values.kinds.extraRules }}
- apiGroups: {{ toJson .apiGroups }}
  resources: {{ toJson .resources }}
  verbs: {{ .verbs | default (list "get" "list" "watch") | toJson }}
{{- end }}
{{- end }}

{{/* Whether these rights reach Secrets of the whole cluster: "true" or "". */}}
{{- define "gatehouse.readsAllSecrets" -}}
{{- $reads := eq .Values.kinds.rights "all" -}}
{{- range .Values.kinds.extraRules -}}
{{- if and (has "secrets" .resources) (or (has "" .apiGroups) (has "*" .apiGroups)) -}}
{{- $reads = true -}}
{{- end -}}
{{- end -}}
{{- ternary "true" "" $reads -}}
{{- end }}
