import type { Random } from '../../src/runtime/random.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, keyOf, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseJson, parseObject } from './request-body.ts';
import { ApiError, badRequest, invalid, methodNotAllowed, notFound, unsupportedMediaType } from './status.ts';
import { prepareForCreate, prepareForUpdate } from './strategy.ts';

/** POST. */
export function createObject(
  store: ObjectStore,
  request: ApiRequest,
  { target, random }: { target: ResourceTarget; random: Random },
): KubeObject {
  const { kind, namespace, name } = target;
  if (name !== '' || (kind.namespaced && namespace === '')) throw methodNotAllowed();
  const body = parseObject(request.body, kind);
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  if (given['resourceVersion'])
    throw new ApiError({ code: 500, message: 'resourceVersion should not be set on objects to be created' });
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, ...rest } = given;
  checkNamespace(store, target, rest['namespace']);
  const metadata = { ...rest, name: nameOf(kind, rest, random), ...(kind.namespaced ? { namespace } : {}) };
  return store.create(kind.plural, prepareForCreate(kind, { ...body, metadata }));
}

function nameOf(kind: ResourceKind, { name, generateName }: Record<string, unknown>, random: Random): string {
  if (typeof name === 'string' && name !== '') return name;
  if (typeof generateName === 'string' && generateName !== '') return `${generateName}${suffix(random)}`;
  const message = 'Required value: name or generateName is required';
  throw invalid({ ...kind, name: '' }, [{ field: 'metadata.name', reason: 'FieldValueRequired', message }]);
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

interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** PUT. */
export function updateObject(store: ObjectStore, request: ApiRequest, target: ResourceTarget): Written {
  const { kind, name, namespace } = target;
  if (name === '') throw methodNotAllowed();
  const body = parseObject(request.body, kind);
  const given = (isRecord(body['metadata']) ? body['metadata'] : {}) as Partial<NewObject['metadata']>;
  if (given.name !== name)
    throw badRequest(`the name of the object (${given.name ?? ''}) does not match the name on the URL (${name})`);
  const wanted = { ...body, metadata: { ...given, name, ...(kind.namespaced ? { namespace } : {}) } };
  const stored = store.get(kind.plural, targetKey(target));
  if (stored) {
    if (kind.putCreates && !given.resourceVersion) throw versionRequired(kind, name);
    return { object: store.update(kind.plural, prepareForUpdate(target, stored, wanted)), created: false };
  }
  if (!kind.putCreates || given.resourceVersion) throw notFound(kind, name);
  checkNamespace(store, target, given.namespace);
  return { object: store.create(kind.plural, prepareForCreate(kind, wanted)), created: true };
}

function versionRequired(kind: ResourceKind, name: string): ApiError {
  const message = 'Invalid value: 0: must be specified for an update';
  return invalid({ group: kind.group, kind: kind.plural, name }, [
    { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message },
  ]);
}

/** PATCH. A strategic merge patch is applied as a merge patch: lists are replaced, not merged by key. */
export function patchObject(store: ObjectStore, request: ApiRequest, target: ResourceTarget): KubeObject {
  const { kind, name } = target;
  if (name === '') throw methodNotAllowed();
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim();
  if (type !== 'application/merge-patch+json' && type !== 'application/strategic-merge-patch+json')
    throw unsupportedMediaType();
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const merged = mergePatch(stored, parseJson(request.body)) as NewObject;
  if (keyOf(merged.metadata) !== keyOf(stored.metadata)) throw badRequest('a patch may not change name or namespace');
  return store.update(kind.plural, prepareForUpdate(target, stored, merged));
}
