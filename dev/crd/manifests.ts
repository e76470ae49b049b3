import { stringify } from 'yaml';
import { type AccountKind, NAMES, PLATFORM } from './kinds.ts';

const definitionSpec = ({ names, schema, hasStatus, columns }: AccountKind): object => ({
  group: NAMES.group,
  scope: 'Cluster',
  names,
  versions: [
    {
      name: NAMES.version,
      served: true,
      storage: true,
      ...(hasStatus ? { subresources: { status: {} } } : {}),
      additionalPrinterColumns: columns,
      schema: { openAPIV3Schema: schema },
    },
  ],
});

/** The chart's template of the kind's CustomResourceDefinition. */
export function definitionTemplate(kind: AccountKind): string {
  const spec = stringify({ spec: definitionSpec(kind) }, { lineWidth: 0, aliasDuplicateObjects: false });
  return `{{- if and .Values.accounts.enabled .Values.accounts.crds.install }}
# Written by "npm run crd:write" from src/accounts/schema. Change that, not this file.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${ofAnyPlatform(`${kind.names.plural}.${NAMES.group}`)}
  labels:
    {{- include "gatehouse.labels" . | nindent 4 }}
  {{- if or .Values.accounts.crds.keep .Values.commonAnnotations }}
  annotations:
    {{- if .Values.accounts.crds.keep }}
    # Without its definition the cluster would delete every object of the kind.
    helm.sh/resource-policy: keep
    {{- end }}
    {{- with .Values.commonAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
${ofAnyPlatform(spec)}{{- end }}
`;
}

const ofAnyPlatform = (text: string): string =>
  text
    .replaceAll(`iam.${PLATFORM}.io`, 'iam.{{ .Values.platform }}.io')
    .replaceAll(`iam\\.${PLATFORM}\\.io`, 'iam\\.{{ .Values.platform }}\\.io');
