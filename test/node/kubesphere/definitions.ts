/** A part of a schema of the cluster's definitions. */
type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const TEXTS: Schema = { type: 'array', items: TEXT };
const ANYTHING: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: Schema, required: readonly string[] = []): Schema => ({
  ...{ type: 'object', properties },
  ...(required.length > 0 && { required }),
});

/** 3.4 takes clear text, too, with a small and a large letter and a digit in any order: its controller hashes it later. */
const LETTERS_AND_DIGIT = [
  ['[a-z]', '[A-Z]', '[0-9]'],
  ['[a-z]', '[0-9]', '[A-Z]'],
  ['[A-Z]', '[a-z]', '[0-9]'],
  ['[A-Z]', '[0-9]', '[a-z]'],
  ['[0-9]', '[a-z]', '[A-Z]'],
  ['[0-9]', '[A-Z]', '[a-z]'],
].map((order) => `^(.*${order.join('.*')}.*)$`);
const PASSWORD: Schema = {
  ...{ ...TEXT, minLength: 8, maxLength: 64 },
  pattern: [...LETTERS_AND_DIGIT, String.raw`^(\$2[ayb]\$.{56})$`].join('|'),
};

const USER = object(
  {
    spec: object({ email: TEXT, password: PASSWORD, groups: TEXTS, lang: TEXT, displayName: TEXT, description: TEXT }, [
      'email',
    ]),
    status: object({ state: TEXT, reason: TEXT, lastTransitionTime: TIME, lastLoginTime: TIME }),
  },
  ['spec'],
);

const LOGIN_RECORD = object(
  {
    spec: object(
      { type: TEXT, provider: TEXT, sourceIP: TEXT, userAgent: TEXT, success: { type: 'boolean' }, reason: TEXT },
      ['provider', 'reason', 'sourceIP', 'success', 'type'],
    ),
  },
  ['spec'],
);

const SUBJECTS: Schema = {
  type: 'array',
  items: object({ apiGroup: TEXT, kind: TEXT, name: TEXT, namespace: TEXT }, ['kind', 'name']),
};
const BINDING = object(
  { subjects: SUBJECTS, roleRef: object({ apiGroup: TEXT, kind: TEXT, name: TEXT }, ['apiGroup', 'kind', 'name']) },
  ['roleRef'],
);
const ROLE = object({ rules: { type: 'array', items: ANYTHING } }, ['rules']);

const IAM = ['iam.kubesphere.io', 'v1alpha2'] as const;
const WORKSPACE = object({ spec: object({ manager: TEXT, networkIsolation: { type: 'boolean' } }), status: ANYTHING });

/** By plural: kind, group, version and schema. None has the status as a subresource. */
const KINDS: Readonly<Record<string, readonly [string, readonly [string, string], Schema]>> = {
  users: ['User', IAM, USER],
  loginrecords: ['LoginRecord', IAM, LOGIN_RECORD],
  globalroles: ['GlobalRole', IAM, ROLE],
  globalrolebindings: ['GlobalRoleBinding', IAM, BINDING],
  workspaceroles: ['WorkspaceRole', IAM, ROLE],
  workspacerolebindings: ['WorkspaceRoleBinding', IAM, BINDING],
  groups: ['Group', IAM, object({ spec: ANYTHING, status: ANYTHING })],
  groupbindings: ['GroupBinding', IAM, object({ users: TEXTS, groupRef: ANYTHING })],
  workspaces: ['Workspace', ['tenant.kubesphere.io', 'v1alpha1'], WORKSPACE],
  workspacetemplates: ['WorkspaceTemplate', ['tenant.kubesphere.io', 'v1alpha2'], object({ spec: ANYTHING })],
};

/** What KubeSphere 3.4 installs of the kinds of people and tenants, written after its `config/ks-core/crds`. */
export const DEFINITIONS: readonly object[] = Object.entries(KINDS).map(([plural, [kind, [group, name], schema]]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: 'Cluster' },
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, categories: [group.split('.')[0]] },
    versions: [{ name, served: true, storage: true, schema: { openAPIV3Schema: withType(schema) } }],
  },
}));

/** The names of the definitions, as kubectl takes them. */
export const DEFINITION_NAMES: readonly string[] = Object.entries(KINDS).map(
  ([plural, [, [group]]]) => `crd/${plural}.${group}`,
);

function withType(schema: Schema): Schema {
  const { properties } = schema as { readonly properties: Schema };
  return { ...schema, properties: { apiVersion: TEXT, kind: TEXT, metadata: { type: 'object' }, ...properties } };
}
