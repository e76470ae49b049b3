import { applied } from './apply.ts';
import { authorizeRequest } from './authorize.ts';
import { isDryRun } from './dry-run.ts';
import { jsonPatch } from './json-patch.ts';
import { isRecord, type KubeObject, keyOf, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, isTrue, targetKey } from './request.ts';
import { mediaTypeOf, parseJson, parseYaml } from './request-body.ts';
import { badRequest, invalid, methodNotAllowed, notFound, unsupportedMediaType } from './status.ts';
import { prepareForCreate } from './strategy.ts';
import { checkNamespace, managerOf, storeUpdate, type Writing, type Written } from './writes.ts';

/** PATCH. */
export function patchObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { kind, name } = writing.target;
  if (name === '') throw methodNotAllowed();
  if (mediaTypeOf(request.headers) === 'application/apply-patch+yaml' && kind.isManaged)
    return applyObject(store, request, writing);
  const change = changeOf(request, writing);
  const stored = store.get(kind.plural, targetKey(writing.target));
  if (!stored) throw notFound(kind, name);
  const wanted = change(stored);
  if (keyOf(wanted.metadata) !== keyOf(stored.metadata)) throw badRequest('a patch may not change name or namespace');
  return { object: storeUpdate(store, { ...writing, request, stored, wanted }), created: false };
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

/** PATCH with what a manager wants the object to be like. It makes the object, too, for whoever may create it. */
function applyObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { target, caller } = writing;
  const { kind, name, namespace } = target;
  if (!request.query.get('fieldManager')) throw managerRequired();
  const body = parseYaml(request.body);
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  if (given['name'] !== name) throw badRequest('the name of the object does not match the name on the URL');
  const config = { ...body, metadata: { ...given, name, ...(kind.namespaced ? { namespace } : {}) } };
  const stored = store.get(kind.plural, targetKey(target));
  const force = isTrue(request.query.get('force'));
  const wanted = applied({ kind, stored, config, by: managerOf(request, writing), force });
  if (stored) {
    const object = storeUpdate(store, { ...writing, request, stored, wanted, isApplied: true });
    return { object, created: false };
  }
  authorizeRequest(store, caller, { ...request, verb: 'create' });
  checkNamespace(store, target, given['namespace']);
  const object = store.create(kind.plural, prepareForCreate(kind, wanted), { dryRun: isDryRun(request) });
  return { object, created: true };
}

function managerRequired() {
  const message = 'Required value: is required for apply patch';
  return invalid({ group: 'meta.k8s.io', kind: 'PatchOptions', name: '' }, [
    { field: 'fieldManager', reason: 'FieldValueRequired', message },
  ]);
}
