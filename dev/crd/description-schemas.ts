import { type AccountKind, LOGIN_RECORDS, NAMES, USERS } from './kinds.ts';

type Schema = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const object = (description: string, required: readonly string[], properties: Schema): Schema => ({
  type: 'object',
  description,
  ...(required.length > 0 && { required }),
  properties,
});

const OBJECT_META = object('What the cluster keeps of every object; the parts that matter here.', ['name'], {
  name: text('The name: DNS-1123 labels joined by dots.', { maxLength: 253 }),
  uid: text('Another one for each object, also of the same name.'),
  resourceVersion: text('The version of the object. An update that has it is refused with 409 when it is old.'),
  generation: { type: 'integer', description: 'Counts the changes of spec.' },
  creationTimestamp: text('When it was created.', { format: 'date-time' }),
  deletionTimestamp: text('When its deletion was asked for.', { format: 'date-time' }),
  labels: { ...texts, description: `Beside others, ${NAMES.userRef}: whose it is.` },
  annotations: { ...texts, description: 'What is remembered beside the object.' },
  finalizers: {
    type: 'array',
    description: `Who has something to do before it is gone; of a user, ${NAMES.finalizer}.`,
    items: { type: 'string' },
  },
  ownerReferences: { type: 'array', description: 'With whom it goes.', items: { type: 'object' } },
  managedFields: { type: 'array', description: 'Who wrote which field.', items: { type: 'object' } },
});

const LIST_META = object('Where the list stands.', ['resourceVersion'], {
  resourceVersion: text('A watch from here misses nothing.'),
  continue: text('Names the next page; empty on the last one.'),
  remainingItemCount: { type: 'integer', description: 'How many follow this page.' },
});

const STATUS = object('What the cluster says instead of an object.', ['kind', 'apiVersion', 'status'], {
  kind: { const: 'Status' },
  apiVersion: { const: 'v1' },
  metadata: { type: 'object' },
  status: { enum: ['Success', 'Failure'] },
  message: text('For people.'),
  reason: text('For programs, such as Invalid, Conflict, AlreadyExists.'),
  details: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      group: { type: 'string' },
      kind: { type: 'string' },
      uid: { type: 'string' },
      causes: {
        type: 'array',
        description: 'Every bad field of an object that is Invalid.',
        items: {
          type: 'object',
          properties: {
            reason: { type: 'string' },
            message: { type: 'string' },
            field: text('Such as spec.email; "<nil>" where the message names it.'),
          },
        },
      },
      retryAfterSeconds: { type: 'integer' },
    },
  },
  code: { type: 'integer', description: 'The status of the answer.' },
});

/** The schema of an object. Its `metadata` has the members of every object, with the limits of the definition. */
function objectSchema({ schema, names }: AccountKind): Schema {
  const { metadata, spec, status } = schema.properties ?? {};
  const apiVersion = { const: NAMES.apiVersion };
  return {
    ...schema,
    properties: {
      apiVersion,
      kind: { const: names.kind },
      metadata: { allOf: [schemaRef('ObjectMeta'), metadata] },
      spec,
      ...(status && { status }),
    },
  };
}

function schemasOf(kind: AccountKind): Schema {
  const { names } = kind;
  return {
    [names.kind]: objectSchema(kind),
    [names.listKind]: object(`A page of objects.`, ['apiVersion', 'kind', 'metadata', 'items'], {
      apiVersion: { const: NAMES.apiVersion },
      kind: { const: names.listKind },
      metadata: schemaRef('ListMeta'),
      items: { type: 'array', items: schemaRef(names.kind) },
    }),
    [`${names.kind}Event`]: object('One line of a watch.', ['type', 'object'], {
      type: { enum: ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] },
      object: {
        description: 'The object; of a bookmark its version alone, of an error a Status.',
        anyOf: [
          schemaRef(names.kind),
          schemaRef('Status'),
          object('A bookmark.', ['metadata'], { metadata: schemaRef('ListMeta') }),
        ],
      },
    }),
  };
}

const GROUP_VERSION = object('A version of the group.', ['groupVersion', 'version'], {
  groupVersion: { const: NAMES.apiVersion },
  version: { const: NAMES.version },
});

export const SCHEMAS: Schema = {
  ...schemasOf(USERS),
  ...schemasOf(LOGIN_RECORDS),
  ObjectMeta: OBJECT_META,
  ListMeta: LIST_META,
  Status: STATUS,
  DeleteOptions: object('How to delete.', [], {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    dryRun: { type: 'array', items: { const: 'All' } },
    gracePeriodSeconds: { type: 'integer' },
    preconditions: object('What the stored object must be, else 409.', [], {
      uid: { type: 'string' },
      resourceVersion: { type: 'string' },
    }),
    propagationPolicy: { enum: ['Orphan', 'Background', 'Foreground'] },
  }),
  JsonPatch: {
    type: 'array',
    description: 'Operations of RFC 6902.',
    items: object('One operation.', ['op', 'path'], {
      op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { type: 'string' },
      from: { type: 'string' },
      value: {},
    }),
  },
  MergePatch: { type: 'object', description: 'The members to change (RFC 7396); null takes one away.' },
  APIGroup: object('The group and its versions.', ['kind', 'apiVersion', 'name', 'versions', 'preferredVersion'], {
    kind: { const: 'APIGroup' },
    apiVersion: { const: 'v1' },
    name: { const: NAMES.group },
    versions: { type: 'array', items: schemaRef('GroupVersion') },
    preferredVersion: schemaRef('GroupVersion'),
  }),
  GroupVersion: GROUP_VERSION,
  APIResourceList: object('What the version has.', ['kind', 'apiVersion', 'groupVersion', 'resources'], {
    kind: { const: 'APIResourceList' },
    apiVersion: { const: 'v1' },
    groupVersion: { const: NAMES.apiVersion },
    resources: { type: 'array', items: schemaRef('APIResource') },
  }),
  APIResource: object('One word of a path, and what can be done there.', ['name', 'namespaced', 'kind', 'verbs'], {
    name: { type: 'string' },
    singularName: { type: 'string' },
    namespaced: { const: false },
    kind: { type: 'string' },
    verbs: { type: 'array', items: { type: 'string' } },
    shortNames: { type: 'array', items: { type: 'string' } },
    categories: { type: 'array', items: { type: 'string' } },
    storageVersionHash: { type: 'string' },
  }),
};
