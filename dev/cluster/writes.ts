import type { Random } from '../../src/random.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, keyOf, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import { type ObjectStore, uidMismatch } from './object-store.ts';
import type { ApiRequest, ResourceTarget } from './request.ts';
import {
  ApiError,
  badRequest,
  conflict,
  invalid,
  methodNotAllowed,
  notFound,
  unsupportedMediaType,
  wrongType,
} from './status.ts';

/** The key of the object that a path names. */
export const targetKey = ({ kind, namespace, name }: ResourceTarget): string =>
  kind.namespaced ? `${namespace}/${name}` : name;

/** The JSON object in a request body, checked against the type of the path. */
export function parseBody(body: Buffer, kind: ResourceKind): Record<string, unknown> {
  const parsed = parseJson(body);
  const { kind: word = kind.kind, apiVersion = apiVersionOf(kind) } = parsed;
  if (word !== kind.kind || apiVersion !== apiVersionOf(kind)) throw wrongType(kind);
  return parsed;
}

function parseJson(body: Buffer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    if (isRecord(parsed)) return parsed;
  } catch {
    // Refused below: the text of the parser's error differs from a real server's anyway.
  }
  throw badRequest('the object provided is unrecognized (must be a JSON object)');
}

/** POST. Sets what clients may not choose, as the registry strategies of a real server do. */
export function createObject(
  store: ObjectStore,
  request: ApiRequest,
  target: ResourceTarget,
  random: Random,
): KubeObject {
  const { kind, namespace } = target;
  if (target.name !== '' || (kind.namespaced && namespace === '')) throw methodNotAllowed();
  const body = parseBody(request.body, kind);
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  if (given['resourceVersion'])
    throw new ApiError({ code: 500, message: 'resourceVersion should not be set on objects to be created' });
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, generateName, ...rest } = given;
  const name = rest['name'] || (generateName ? `${generateName}${suffix(random)}` : undefined);
  if (typeof name !== 'string') {
    const message = 'Required value: name or generateName is required';
    throw invalid({ ...kind, name: '' }, [{ field: 'metadata.name', reason: 'FieldValueRequired', message }]);
  }
  checkNamespace(store, target, rest['namespace']);
  const metadata = {
    ...rest,
    ...(generateName ? { generateName } : {}),
    name,
    ...(kind.namespaced ? { namespace } : {}),
  };
  return store.create(kind.plural, {
    ...body,
    ...defaults(kind, body, name),
    metadata: { ...metadata, ...labelled(kind, rest, name) },
  });
}

/** Five characters without vowels, as the API server makes names. */
const suffix = (random: Random): string =>
  Array.from(random.bytes(5), (byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]).join('');

function checkNamespace(store: ObjectStore, { kind, namespace }: ResourceTarget, given: unknown): void {
  if (!kind.namespaced) return;
  if (given !== undefined && given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (!store.get('namespaces', namespace)) throw notFound(store.collection('namespaces').kind, namespace);
}

function defaults(kind: ResourceKind, body: Record<string, unknown>, name: string): object {
  const spec = isRecord(body['spec']) ? body['spec'] : {};
  switch (kind.plural) {
    case 'secrets':
      return { type: body['type'] ?? 'Opaque' };
    case 'pods':
      return { status: { phase: 'Pending', qosClass: 'BestEffort' } };
    case 'namespaces':
      return { spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    case 'nodes':
      return { spec, status: body['status'] ?? {} };
    default:
      return name === '' ? {} : {};
  }
}

const labelled = ({ plural }: ResourceKind, { labels }: Record<string, unknown>, name: string): object =>
  plural === 'namespaces'
    ? { labels: { ...(isRecord(labels) ? labels : {}), 'kubernetes.io/metadata.name': name } }
    : {};

/** PUT. */
export function updateObject(
  store: ObjectStore,
  request: ApiRequest,
  target: ResourceTarget,
): { object: KubeObject; created: boolean } {
  const { kind, name, namespace } = target;
  const body = parseBody(request.body, kind);
  const metadata = { ...(isRecord(body['metadata']) ? body['metadata'] : {}) } as Partial<NewObject['metadata']>;
  if (metadata.name !== name)
    throw badRequest(`the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`);
  const placed = { ...metadata, name, ...(kind.namespaced ? { namespace } : {}) };
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored && kind.putCreates && !placed.resourceVersion) {
    checkNamespace(store, target, metadata.namespace);
    return { object: store.create(kind.plural, { ...body, metadata: placed }), created: true };
  }
  if (stored && kind.putCreates && !placed.resourceVersion) {
    const message = 'Invalid value: 0: must be specified for an update';
    throw invalid({ ...kind, kind: kind.plural, name }, [
      { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message },
    ]);
  }
  if (!stored) throw notFound(kind, name);
  return { object: store.update(kind.plural, allowed(stored, { ...body, metadata: placed }, target)), created: false };
}

/** PATCH. A strategic merge patch is applied as a merge patch: lists are replaced, not merged by key. */
export function patchObject(store: ObjectStore, request: ApiRequest, target: ResourceTarget): KubeObject {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim();
  if (type !== 'application/merge-patch+json' && type !== 'application/strategic-merge-patch+json')
    throw unsupportedMediaType('application/merge-patch+json, application/strategic-merge-patch+json');
  const { kind, name } = target;
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const merged = mergePatch(stored, parseJson(request.body)) as NewObject;
  if (keyOf(merged.metadata) !== keyOf(stored.metadata)) throw badRequest('a patch may not change name or namespace');
  return store.update(kind.plural, allowed(stored, merged, target));
}

/** The main resource leaves the status alone, the status subresource everything but status and metadata. */
function allowed(stored: KubeObject, wanted: NewObject, { kind, subresource }: ResourceTarget): NewObject {
  if (!kind.hasStatus) return wanted;
  const { metadata, status } = wanted as NewObject & Pick<KubeObject, 'status'>;
  if (subresource === 'status') return { ...stored, metadata, ...(status === undefined ? {} : { status }) };
  return { ...wanted, ...(stored.status === undefined ? {} : { status: stored.status }) };
}

/** DELETE, at once: no kubelet or controller is there to wait for. Preconditions on uid and version are kept. */
export function deleteObject(store: ObjectStore, request: ApiRequest, target: ResourceTarget): KubeObject {
  const { kind, name } = target;
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const options = request.body.length === 0 ? {} : parseJson(request.body);
  const { uid, resourceVersion } = (
    isRecord(options['preconditions']) ? options['preconditions'] : {}
  ) as Preconditions;
  const held = stored.metadata;
  if (uid !== undefined && uid !== held.uid) throw conflict(kind, name, uidMismatch(uid, held.uid));
  if (resourceVersion !== undefined && resourceVersion !== held.resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${held.resourceVersion}`;
    throw conflict(kind, name, why);
  }
  return store.remove(kind.plural, targetKey(target));
}

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}
