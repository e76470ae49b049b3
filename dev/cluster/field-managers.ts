import { isDeepStrictEqual } from 'node:util';
import { isRecord, type KubeObject, memberAt, type NewObject } from './kube-object.ts';

/** The writer of an object, with the time of the write. */
export interface Manager {
  readonly name: string;
  readonly apiVersion: string;
  /** In the format of `timestamp`. */
  readonly time: string;
}

/** One entry of `metadata.managedFields`, its fields as JSON pointers. */
export interface Managed {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly fields: ReadonlySet<string>;
}

/** The members that no manager owns: the server sets them, or they identify the object. */
const UNMANAGED: ReadonlySet<string> = new Set([
  '/apiVersion',
  '/kind',
  '/metadata/creationTimestamp',
  '/metadata/generation',
  '/metadata/managedFields',
  '/metadata/name',
  '/metadata/namespace',
  '/metadata/resourceVersion',
  '/metadata/uid',
]);

/** The fields of an object, as JSON pointers. A list is one field. */
export function fieldsOf(value: unknown, pointer = ''): string[] {
  if (UNMANAGED.has(pointer)) return [];
  if (!isRecord(value)) return [pointer];
  return Object.entries(value).flatMap(([name, member]) => fieldsOf(member, `${pointer}/${escaped(name)}`));
}

export const fieldAt = (object: object, pointer: string): unknown => memberAt(object, stepsOf(pointer));

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

export const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

export function managedOf(stored: KubeObject | undefined): Managed[] {
  const entries = (stored?.metadata['managedFields'] ?? []) as readonly (Omit<Managed, 'fields'> & {
    readonly fieldsV1: object;
  })[];
  return entries.map(({ fieldsV1, ...entry }) => ({ ...entry, fields: new Set(pointersIn(fieldsV1)) }));
}

function pointersIn(fields: object, pointer = ''): string[] {
  const members = Object.entries(fields);
  if (members.length === 0) return [pointer];
  return members.flatMap(([name, inner]) => pointersIn(inner as object, `${pointer}/${escaped(name.slice(2))}`));
}

/** `fieldsV1`: each member as `f:<name>`. The entries `.`, by which a manager owns a map itself, are left out. */
function fieldsV1(fields: ReadonlySet<string>): object {
  const root: Record<string, unknown> = {};
  for (const pointer of [...fields].sort()) {
    let inner = root;
    for (const step of stepsOf(pointer)) {
      const name = `f:${step}`;
      inner[name] ??= {};
      inner = inner[name] as Record<string, unknown>;
    }
  }
  return root;
}

/** An object with these managers, `Apply` before `Update` and then by time. Managers without fields are left out. */
export function withManaged(object: NewObject, managed: readonly Managed[]): NewObject {
  const rank = ({ operation, time }: Managed): string => `${operation} ${time}`;
  const entries = managed
    .filter(({ fields }) => fields.size > 0)
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(({ fields, manager, operation, apiVersion, time }) => {
      return { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: fieldsV1(fields) };
    });
  return { ...object, metadata: { ...object.metadata, managedFields: entries } };
}

/** After a create, an update or a patch, the writer is the only manager of the fields that have changed. */
export function managedByUpdate(stored: KubeObject | undefined, next: NewObject, by: Manager): NewObject {
  const before = managedOf(stored);
  const has = new Set(fieldsOf(next));
  const changed = [...has].filter(
    (field) => !stored || !isDeepStrictEqual(fieldAt(stored, field), fieldAt(next, field)),
  );
  const isTaken = (field: string): boolean => changed.includes(field) || !has.has(field);
  const kept = before.map((entry) => ({ ...entry, fields: new Set([...entry.fields].filter((one) => !isTaken(one))) }));
  if (changed.length === 0) return withManaged(next, kept);
  const isOwn = ({ manager, operation }: Managed): boolean => manager === by.name && operation === 'Update';
  const own = kept.find(isOwn)?.fields ?? [];
  const { apiVersion, time, name: manager } = by;
  const entry: Managed = { manager, operation: 'Update', apiVersion, time, fields: new Set([...own, ...changed]) };
  return withManaged(next, [...kept.filter((other) => !isOwn(other)), entry]);
}
