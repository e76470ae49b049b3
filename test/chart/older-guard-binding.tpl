{{- if .Values.accounts.enabled }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "gatehouse.policyName" . }}
  labels:
    {{- include "gatehouse.labels" . | nindent 4 }}
  {{- if .Values.accounts.crds.keep }}
  annotations:
    # It stays as long as the policy does.
    helm.sh/resource-policy: keep
  {{- end }}
spec:
  policyName: {{ include "gatehouse.policyName" . }}
  validationActions: [Deny]
{{- end }}
