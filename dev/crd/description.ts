import { stringify } from 'yaml';
import { collection, discovery, PARAMETERS, RESPONSES, single } from './description-operations.ts';
import { SCHEMAS } from './description-schemas.ts';
import { type AccountKind, LOGIN_RECORDS, NAMES, USERS } from './kinds.ts';

const KINDS = [USERS, LOGIN_RECORDS];
const GROUP = `/apis/${NAMES.group}`;
const VERSION = `/apis/${NAMES.apiVersion}`;

/** In the order of API servers. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function resourcesOf({ names, hasStatus }: AccountKind): readonly object[] {
  const { plural, singular, kind, shortNames, categories } = names;
  const whole = { name: plural, singularName: singular, namespaced: false, kind, verbs: VERBS, shortNames, categories };
  const status = { name: `${plural}/status`, singularName: '', namespaced: false, kind };
  return [whole, ...(hasStatus ? [{ ...status, verbs: ['get', 'patch', 'update'] }] : [])];
}

const version = { groupVersion: NAMES.apiVersion, version: NAMES.version };
const group = {
  ...{ kind: 'APIGroup', apiVersion: 'v1', name: NAMES.group },
  ...{ versions: [version], preferredVersion: version },
};
const resources = {
  ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: NAMES.apiVersion },
  resources: KINDS.flatMap(resourcesOf),
};

const pathsOf = (kind: AccountKind): readonly (readonly [string, object])[] => {
  const path = `${VERSION}/${kind.names.plural}`;
  return [
    [path, collection(kind)],
    [`${path}/{name}`, single(kind, '')],
    ...(kind.hasStatus ? [[`${path}/{name}/status`, single(kind, 'Status')] as const] : []),
  ];
};

const description = {
  openapi: '3.1.0',
  info: {
    title: 'Gatehouse: custom resources',
    version: '0.0.0',
    summary: 'Users and login records, as the cluster serves them.',
    description: `The custom resources in which Gatehouse keeps users and login records, and their discovery documents. Their rules are those of the
definitions that the chart installs. The cluster serves them to whom its roles let, and lets only Gatehouse write; people and programs
use Gatehouse's own paths below /kapis.

The cluster drops members that it does not know, so a password can be in no user. YAML, protobuf and Kubernetes' own table form are
left out here; every API server has them.
`,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [
    {
      url: 'https://{host}:{port}',
      description: "The cluster's API server.",
      variables: { host: { default: 'kubernetes.default.svc' }, port: { default: '443' } },
    },
  ],
  tags: [
    { name: 'users', description: 'People who may sign in.' },
    { name: 'loginrecords', description: 'Sign-ins, and those that failed.' },
    { name: 'discovery', description: 'What there is.' },
  ],
  security: [{ bearer: [] }],
  paths: {
    [GROUP]: discovery('readGroup', 'APIGroup', group),
    [VERSION]: discovery('readResources', 'APIResourceList', resources),
    ...Object.fromEntries(KINDS.flatMap(pathsOf)),
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A token that the API server takes.' } },
    parameters: PARAMETERS,
    responses: RESPONSES,
    schemas: SCHEMAS,
  },
};

/** The text of api/crd.openapi.yaml. */
export const crdDescription = (): string =>
  `# Written by "npm run crd:write" from src/accounts/schema. Change that, not this file.\n${stringify(description, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })}`;
