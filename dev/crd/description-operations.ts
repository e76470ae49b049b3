import { schemaRef } from './description-schemas.ts';
import type { AccountKind } from './kinds.ts';
import { NAMES } from './kinds.ts';

type Part = Readonly<Record<string, unknown>>;

/** The query parameters of the cluster, with their schemas and what they do. */
const QUERY: Readonly<Record<string, readonly [schema: Part, description: string]>> = {
  pretty: [{ type: 'string' }, 'Whether the answer has line breaks and indents.'],
  allowWatchBookmarks: [{ type: 'boolean' }, 'Whether a watch may have bookmarks, which tell a version alone.'],
  continue: [{ type: 'string' }, 'The next page, as the last one names it.'],
  fieldSelector: [{ type: 'string' }, 'Chooses by metadata.name.'],
  labelSelector: [{ type: 'string' }, 'Chooses by labels.'],
  limit: [{ type: 'integer' }, 'The most objects of a page.'],
  resourceVersion: [{ type: 'string' }, 'The version to read, or to watch from.'],
  resourceVersionMatch: [{ enum: ['Exact', 'NotOlderThan'] }, 'How resourceVersion is meant.'],
  sendInitialEvents: [{ type: 'boolean' }, 'Whether a watch begins with the objects that are there.'],
  timeoutSeconds: [{ type: 'integer' }, 'How long the call, or the watch, may last.'],
  watch: [{ type: 'boolean' }, 'Streams changes, a line each, instead of answering a list.'],
  dryRun: [{ const: 'All' }, 'Checks everything and stores nothing.'],
  fieldManager: [{ type: 'string', maxLength: 128 }, 'Who writes, for managedFields.'],
  fieldValidation: [{ enum: ['Ignore', 'Warn', 'Strict'] }, 'What happens to members that are unknown or twice.'],
  force: [{ type: 'boolean' }, 'Whether an apply takes fields over from others.'],
  gracePeriodSeconds: [{ type: 'integer' }, 'How long a deletion may wait; nothing waits here.'],
  ignoreStoreReadErrorWithClusterBreakingPotential: [{ type: 'boolean' }, 'Deletes what the cluster cannot read.'],
  orphanDependents: [{ type: 'boolean', deprecated: true }, 'Use propagationPolicy.'],
  propagationPolicy: [{ enum: ['Orphan', 'Background', 'Foreground'] }, 'What becomes of what belongs to it.'],
};

const LIST = [
  ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'resourceVersion'],
  ...['resourceVersionMatch', 'sendInitialEvents', 'timeoutSeconds', 'watch'],
];
const WRITE = ['dryRun', 'fieldManager', 'fieldValidation'];
const DELETE = [
  ...['dryRun', 'gracePeriodSeconds', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'],
  'propagationPolicy',
];

export const PARAMETERS: Part = {
  name: { name: 'name', in: 'path', required: true, description: 'The object.', schema: { type: 'string' } },
  ...Object.fromEntries(
    Object.entries(QUERY).map(([name, [schema, description]]) => [name, { name, in: 'query', description, schema }]),
  ),
};

const REFUSALS = {
  BadRequest: [400, 'The request cannot be read: its JSON, its kind, its name beside that of the path, a parameter.'],
  Unauthorized: [401, 'No credentials, or none that are good.'],
  Forbidden: [403, 'The caller may not; of a write also where only Gatehouse may.'],
  NotFound: [404, 'There is no such object, or the definitions are not installed.'],
  Conflict: [409, 'The name is taken, or the stored object is another than the one that was changed.'],
  Gone: [410, 'The page or version is too old: list again.'],
  UnsupportedMediaType: [415, 'The body is of a type that is not taken.'],
  Invalid: [422, 'The object breaks a rule; details.causes names every bad field.'],
} as const;

const json = (schema: Part): Part => ({ 'application/json': { schema } });

export const RESPONSES: Part = Object.fromEntries(
  Object.entries(REFUSALS).map(([name, [, description]]) => [
    name,
    { description, content: json(schemaRef('Status')) },
  ]),
);

const refusals = (...names: readonly (keyof typeof REFUSALS)[]): Part =>
  Object.fromEntries(names.map((name) => [REFUSALS[name][0], { $ref: `#/components/responses/${name}` }]));
const answer = (description: string, schema: Part): Part => ({ description, content: json(schema) });
const parameters = (...names: readonly string[]): readonly Part[] =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
const body = (schema: Part, description: string): Part => ({ required: true, description, content: json(schema) });

/** The operations on the collection of a kind. */
export function collection({ names }: AccountKind): Part {
  const { plural, kind, listKind } = names;
  const list = { tags: [plural], parameters: parameters(...LIST) };
  return {
    parameters: parameters('pretty'),
    get: {
      ...list,
      operationId: `list${kind}`,
      summary: `List or watch ${plural}`,
      responses: {
        200: {
          description: 'A page; with watch, an event a line.',
          content: {
            'application/json': { schema: { anyOf: [schemaRef(listKind), schemaRef(`${kind}Event`)] } },
          },
        },
        ...refusals('BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'Gone'),
      },
    },
    post: {
      tags: [plural],
      operationId: `create${kind}`,
      summary: `Create one of ${plural}`,
      parameters: parameters(...WRITE),
      requestBody: body(schemaRef(kind), 'The object. Its status is not taken.'),
      responses: {
        201: answer('As it is stored.', schemaRef(kind)),
        ...refusals(
          'BadRequest',
          'Unauthorized',
          'Forbidden',
          'NotFound',
          'Conflict',
          'UnsupportedMediaType',
          'Invalid',
        ),
      },
    },
    delete: {
      ...list,
      operationId: `deleteCollection${kind}`,
      summary: `Delete those of ${plural} that are chosen`,
      responses: {
        200: answer('What was deleted, or that it was.', { anyOf: [schemaRef(listKind), schemaRef('Status')] }),
        ...refusals('BadRequest', 'Unauthorized', 'Forbidden', 'NotFound'),
      },
    },
  };
}

/** The operations on one object, or on its status. */
export function single({ names }: AccountKind, part: '' | 'Status'): Part {
  const { plural, kind } = names;
  const what = part ? `the status of one of ${plural}` : `one of ${plural}`;
  const name = `${kind}${part}`;
  const written = refusals(
    ...([
      'BadRequest',
      'Unauthorized',
      'Forbidden',
      'NotFound',
      'Conflict',
      'UnsupportedMediaType',
      'Invalid',
    ] as const),
  );
  const takes = part ? 'The object; only its status is taken.' : 'The object, with the version that was read.';
  return {
    parameters: parameters('name', 'pretty'),
    get: {
      tags: [plural],
      operationId: `read${name}`,
      summary: `Read ${what}`,
      parameters: parameters('resourceVersion'),
      responses: {
        200: answer('The object.', schemaRef(kind)),
        ...refusals('BadRequest', 'Unauthorized', 'Forbidden', 'NotFound'),
      },
    },
    put: {
      tags: [plural],
      operationId: `replace${name}`,
      summary: `Replace ${what}`,
      parameters: parameters(...WRITE),
      requestBody: body(schemaRef(kind), takes),
      responses: { 200: answer('As it is stored.', schemaRef(kind)), ...written },
    },
    patch: {
      tags: [plural],
      operationId: `patch${name}`,
      summary: `Change ${what}`,
      parameters: parameters(...WRITE, 'force'),
      requestBody: {
        required: true,
        description: 'What to change.',
        content: {
          'application/apply-patch+yaml': { schema: schemaRef('MergePatch') },
          'application/json-patch+json': { schema: schemaRef('JsonPatch') },
          'application/merge-patch+json': { schema: schemaRef('MergePatch') },
        },
      },
      responses: {
        200: answer('As it is stored.', schemaRef(kind)),
        ...(part ? {} : { 201: answer('As it is stored; an apply made it.', schemaRef(kind)) }),
        ...written,
      },
    },
    ...(part ? {} : { delete: deletion(kind, plural) }),
  };
}

const deletion = (kind: string, plural: string): Part => ({
  tags: [plural],
  operationId: `delete${kind}`,
  summary: `Delete one of ${plural}`,
  parameters: parameters(...DELETE),
  requestBody: { description: 'How to delete.', content: json(schemaRef('DeleteOptions')) },
  responses: {
    200: answer('That it is gone, or the object, which goes when its finalizers are done.', {
      anyOf: [schemaRef('Status'), schemaRef(kind)],
    }),
    202: answer('The object, whose deletion has begun.', { anyOf: [schemaRef('Status'), schemaRef(kind)] }),
    ...refusals('BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'Conflict'),
  },
});

/** A discovery document. */
export const discovery = (operationId: string, schema: string, example: Part): Part => ({
  get: {
    tags: ['discovery'],
    operationId,
    summary: `What ${schema === 'APIGroup' ? 'versions the group has' : `is in ${NAMES.version}`}`,
    responses: {
      200: {
        description: 'The document.',
        content: { 'application/json': { schema: schemaRef(schema), example } },
      },
      ...refusals('Unauthorized', 'Forbidden', 'NotFound'),
    },
  },
});
