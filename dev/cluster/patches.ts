import { applied } from './apply.ts';
import { jsonPatch } from './json-patch.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import { checkPatched, unreadablePatch } from './metadata.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, isTrue, type ResourceTarget, targetKey } from './request.ts';
import { mediaTypeOf, parseJson, parseYaml } from './request-body.ts';
import { type ApiError, badRequest, invalid, methodNotAllowed, notFound, unsupportedMediaType } from './status.ts';
import { createByName, inNamespace, managerOf, storeUpdate, type Writing, type Written } from './writes.ts';

/** Serves PATCH. */
export function patchObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { kind, name } = writing.target;
  if (name === '') throw methodNotAllowed();
  if (mediaTypeOf(request.headers) === 'application/apply-patch+yaml' && kind.isManaged)
    return applyObject(store, request, writing);
  const change = changeOf(request, writing);
  const stored = store.get(kind.storedAs, targetKey(writing.target));
  if (!stored) throw notFound(kind, name);
  const { conversion } = kind;
  const changed = conversion ? conversion.toStored(change(conversion.fromStored(stored))) : change(stored);
  checkChange(writing, changed);
  const wanted = { ...changed, metadata: { ...inNamespace(writing.target, changed.metadata), name } };
  checkUid(store, writing.target, wanted);
  return { object: storeUpdate(store, { ...writing, request, stored, wanted }), created: false };
}

/** Refuses a patch that changes the kind, name or namespace of an object, or gives its metadata a wrong type. */
function checkChange({ target }: Writing, wanted: Partial<NewObject>): void {
  const { kind, name, namespace } = target;
  if (wanted['kind'] !== undefined && wanted['kind'] !== kind.kind) throw otherKind(kind, name, String(wanted['kind']));
  checkPatched(kind, wanted);
  const given: Partial<NewObject['metadata']> = wanted.metadata ?? {};
  if (!given.name)
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given.name !== name)
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
  if (kind.namespaced && given.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function checkUid(store: ObjectStore, { kind }: ResourceTarget, { metadata: { uid, ...metadata } }: NewObject): void {
  const { object } = store.checkCurrent(kind.storedAs, { metadata });
  if (!uid || uid === object.metadata.uid) return;
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`;
  throw invalid({ ...kind, name: metadata.name }, [{ field: 'metadata.uid', reason: 'FieldValueInvalid', message }]);
}

function otherKind({ kind, group, isCustom }: ResourceKind, name: string, given: string): ApiError {
  if (!isCustom) return unreadablePatch(`no kind "${given}" is registered`);
  const message = `Invalid value: ${JSON.stringify(given)}: must be ${kind}`;
  return invalid({ group, kind: given, name }, [{ field: 'kind', reason: 'FieldValueInvalid', message }]);
}

/** A strategic merge patch is applied as a merge patch: lists are replaced, not merged by key. */
function changeOf({ headers, body }: ApiRequest, { target }: Writing): (stored: KubeObject) => NewObject {
  const merge = (stored: KubeObject): NewObject => mergePatch(stored, parseJson(body)) as NewObject;
  switch (mediaTypeOf(headers)) {
    case 'application/merge-patch+json':
      return merge;
    case 'application/json-patch+json':
      return (stored) => jsonPatch(stored, body) as NewObject;
    case 'application/strategic-merge-patch+json':
      if (!target.kind.isCustom) return merge;
  }
  throw unsupportedMediaType();
}

/** Serves a PATCH that is a server-side apply. It creates an absent object if the caller has the right to create it. */
function applyObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { target } = writing;
  const { kind, name, namespace } = target;
  if (!request.query.get('fieldManager')) throw managerRequired();
  const body = parseYaml(request.body);
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  if (given['name'] !== name) throw badRequest('the name of the object does not match the name on the URL');
  const config = { ...body, metadata: { ...given, name, ...(kind.namespaced ? { namespace } : {}) } };
  const stored = store.get(kind.storedAs, targetKey(target));
  const force = isTrue(request.query.get('force'));
  const wanted = applied({ kind, stored, config, by: managerOf(request, writing), force });
  if (stored) {
    const object = storeUpdate(store, { ...writing, request, stored, wanted, isApplied: true });
    return { object, created: false };
  }
  return { object: createByName(store, wanted, { ...writing, request }), created: true };
}

function managerRequired() {
  const message = 'Required value: is required for apply patch';
  return invalid({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
    { field: 'fieldManager', reason: 'FieldValueRequired', message },
  ]);
}
