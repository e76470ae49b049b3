{{- if .Values.accounts.enabled }}
{{- $writers := .Values.accounts.objectWriters }}
# Rights on users at Gatehouse are rights on the same words in the cluster. So whoever may change users through Gatehouse, which looks at what he
# changes, could change the objects past it; this stops that.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ include "gatehouse.policyName" . }}
  labels:
    {{- include "gatehouse.labels" . | nindent 4 }}
  {{- if .Values.accounts.crds.keep }}
  annotations:
    # It guards the users, who stay too.
    helm.sh/resource-policy: keep
  {{- end }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [iam.{{ .Values.platform }}.io]
        apiVersions: ['*']
        operations: [CREATE, UPDATE, DELETE]
        resources: [users, users/status, loginrecords]
  variables:
    - name: writers
      expression: {{ prepend $writers.users (include "gatehouse.accountUser" .) | toJson | squote }}
    - name: groups
      expression: {{ prepend $writers.groups "system:masters" | toJson | squote }}
    # The garbage collector ends deletions: it takes finalizers of its own away, and deletes what belonged to what is gone. It has a name of
    # its own, or that of its program. The namespace controller has no business here: users and login records are in no namespace. A
    # deletion of the definition itself asks no policy.
    - name: collectors
      expression: '["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]'
  validations:
    - expression: >-
        request.userInfo.username in variables.writers
        || (has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in variables.groups))
        || (request.operation != 'CREATE' && request.userInfo.username in variables.collectors)
      message: users and login records are written by Gatehouse only; use its API, /kapis/iam.{{ .Values.platform }}.io/v1alpha2/users, or be named by the chart's value accounts.objectWriters
      reason: Forbidden
{{- end }}
