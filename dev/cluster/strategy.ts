import { isDeepStrictEqual } from 'node:util';
import { completedDefinition, DEFINITIONS } from './custom/definition.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ResourceTarget } from './request.ts';
import { invalid } from './status.ts';

/** Members that a Go structure has even when they are empty. */
const ALWAYS_THERE: Readonly<Record<string, object>> = {
  leases: { spec: {} },
  roles: { rules: null },
  clusterroles: { rules: null },
};

/** The object as Go encodes its structure: without empty members, and with those that are always written. */
function completed(kind: ResourceKind, { metadata, ...content }: NewObject): NewObject {
  const [contentKept, metadataKept] = [
    withoutEmpty(content, ['data', 'stringData']),
    withoutEmpty(metadata, LISTS_AND_MAPS),
  ];
  return { ...ALWAYS_THERE[kind.name], ...contentKept, metadata: metadataKept as NewObject['metadata'] };
}

const LISTS_AND_MAPS = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

function withoutEmpty(members: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const isEmpty = (value: unknown): boolean =>
    value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]) => !names.includes(name) || !isEmpty(value)),
  );
}

/** Sets the members of a new object that the server decides and not the client: the registry strategy of the kind. */
export const prepareForCreate = (kind: ResourceKind, object: NewObject): NewObject =>
  completed(kind, decidedAtCreate(kind, object));

/** Without a status subresource the status is a member like any other. Account kinds without one have none: their schema prunes it. */
const keepsStatus = ({ hasStatus, columns }: ResourceKind): boolean => !hasStatus && columns !== undefined;

function decidedAtCreate(kind: ResourceKind, object: NewObject): NewObject {
  if (kind.isCustom) {
    const { status, ...rest } = object;
    const kept = keepsStatus(kind) && status !== undefined ? { status } : {};
    return { ...rest, ...kept, metadata: { ...object.metadata, generation: 1 } };
  }
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  switch (kind.name) {
    case DEFINITIONS:
      return completedDefinition(object);
    case 'secrets':
      return { ...object, type: object['type'] ?? 'Opaque' };
    case 'pods':
      return { ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } };
    case 'nodes':
      return { ...object, spec, status: object['status'] ?? {} };
    case 'namespaces': {
      const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
      const metadata = { ...object.metadata, labels };
      return { ...object, metadata, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    }
    default:
      return COUNTED.has(kind.name) ? { ...object, metadata: { ...object.metadata, generation: 1 } } : object;
  }
}

/**
 * An update of the main resource does not change the status. An update of the status subresource changes only status and metadata; for
 * a custom resource it changes only the status. No update undoes the deletion of an object that is marked as deleted.
 */
export function prepareForUpdate(
  target: Pick<ResourceTarget, 'kind' | 'subresource'>,
  stored: KubeObject,
  wanted: NewObject,
): NewObject {
  const next = completed(
    target.kind,
    target.kind.isCustom
      ? ofCustom(target, stored, wanted)
      : counted(target, stored, ofBuiltIn(target, stored, wanted)),
  );
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = next.metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = stored.metadata;
  if (deletionTimestamp === undefined) return { ...next, metadata };
  checkFinalizers(target.kind, stored, next);
  const grace = deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds };
  return { ...next, metadata: { ...metadata, deletionTimestamp, ...grace } };
}

function checkFinalizers({ group, kind, isCustom }: ResourceKind, stored: KubeObject, { metadata }: NewObject): void {
  const kept = (stored.metadata['finalizers'] ?? []) as readonly unknown[];
  const added = ((metadata['finalizers'] ?? []) as readonly unknown[]).filter((name) => !kept.includes(name));
  if (added.length === 0) return;
  const names = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${names}`;
  const problem = { field: 'metadata.finalizers', reason: 'FieldValueForbidden', message } as const;
  // A real server checks the metadata of a custom resource twice.
  throw invalid({ group, kind, name: stored.metadata.name }, isCustom ? [problem, problem] : [problem]);
}

function ofCustom(
  { kind, subresource }: Pick<ResourceTarget, 'kind' | 'subresource'>,
  { status: storedStatus, ...stored }: KubeObject,
  { status, metadata, kind: _kind, apiVersion: _version, ...others }: NewObject,
): NewObject {
  const isContent = keepsStatus(kind);
  const { resourceVersion, uid } = metadata;
  const asked = { ...(resourceVersion ? { resourceVersion } : {}), ...(uid ? { uid } : {}) };
  if (subresource === 'status')
    return { ...stored, metadata: { ...stored.metadata, ...asked }, ...(isRecord(status) ? { status } : {}) };
  const withStatus = (members: object, value: unknown): object =>
    isContent && value !== undefined ? { ...members, status: value } : members;
  const content = withStatus(others, status);
  const { metadata: before, ...storedOthers } = stored;
  const storedContent = withStatus(storedOthers, storedStatus);
  const isOther = !isDeepStrictEqual(content, storedContent);
  const generation = Number(before['generation'] ?? 0) + (isOther ? 1 : 0);
  const kept = storedStatus && !isContent ? { status: storedStatus } : {};
  return { ...content, metadata: { ...metadata, generation }, ...kept };
}

function ofBuiltIn(
  { kind, subresource }: Pick<ResourceTarget, 'kind' | 'subresource'>,
  stored: KubeObject,
  wanted: NewObject,
): NewObject {
  if (kind.name === 'secrets') return withStoredType(stored, wanted);
  if (!kind.hasStatus) return wanted;
  const { metadata, status } = wanted as NewObject & Pick<KubeObject, 'status'>;
  if (subresource === 'status') return { ...stored, metadata, ...(status === undefined ? {} : { status }) };
  return { ...wanted, ...(stored.status === undefined ? {} : { status: stored.status }) };
}

/** The built-in kinds whose `metadata.generation` is kept here: it counts the changes of the spec. */
const COUNTED: ReadonlySet<string> = new Set([
  DEFINITIONS,
  ...['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'],
  ...['poddisruptionbudgets', 'ingresses', 'networkpolicies'],
]);

function counted({ kind }: Pick<ResourceTarget, 'kind'>, stored: KubeObject, wanted: NewObject): NewObject {
  if (!COUNTED.has(kind.name)) return wanted;
  const isOther = !isDeepStrictEqual(wanted['spec'], stored.spec);
  const generation = Number(stored.metadata['generation'] ?? 1) + (isOther ? 1 : 0);
  return { ...wanted, metadata: { ...wanted.metadata, generation } };
}

/** The type of a Secret may be left out but not changed. */
function withStoredType(stored: KubeObject, wanted: NewObject): NewObject {
  const type = wanted['type'] || stored['type'];
  if (type === stored['type']) return { ...wanted, type };
  const message = `Invalid value: ${JSON.stringify(type)}: field is immutable`;
  throw invalid({ group: '', kind: 'Secret', name: stored.metadata.name }, [
    { field: 'type', reason: 'FieldValueInvalid', message },
  ]);
}
