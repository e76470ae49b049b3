import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { authorizeRequest, refused } from './authorize.ts';
import { checkDefinition, DEFINITIONS } from './custom/definition.ts';
import { completesDeletion } from './deletion.ts';
import { isDryRun } from './dry-run.ts';
import { confirmNoEscalation } from './escalation.ts';
import { type Manager, managedByUpdate } from './field-managers.ts';
import type { Identity } from './identity.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import { checkMetadata } from './metadata.ts';
import { type ObjectStore, uidMismatch } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseObject } from './request-body.ts';
import { ApiError, badRequest, conflict, type InvalidField, invalid, methodNotAllowed, notFound } from './status.ts';
import { prepareForCreate, prepareForUpdate } from './strategy.ts';
import { timestamp } from './timestamp.ts';

/** The target and the caller of a write, and the clock. */
export interface Writing {
  readonly target: ResourceTarget;
  readonly caller: Identity;
  readonly clock: Clock;
}

/** The manager that a write names; by default the program that sends it. */
export function managerOf({ query, headers }: ApiRequest, { target: { kind }, clock }: Writing): Manager {
  const program = headers['user-agent']?.split('/')[0];
  const name = query.get('fieldManager') || program || 'unknown';
  return { name, apiVersion: apiVersionOf(kind), time: timestamp(clock.now()) };
}

/** Sets the namespace of the path. Removes the namespace from the metadata of a cluster-scoped object. */
export function inNamespace<Metadata extends object>(
  { kind, namespace }: ResourceTarget,
  metadata: Metadata & { readonly namespace?: unknown },
): Omit<Metadata, 'namespace'> & { readonly namespace?: string } {
  const { namespace: _, ...rest } = metadata;
  return kind.namespaced ? { ...rest, namespace } : rest;
}

/** Serves POST. */
export function createObject(
  store: ObjectStore,
  request: ApiRequest,
  { random, ...writing }: Writing & { readonly random: Random },
): KubeObject {
  const { target, caller } = writing;
  const { kind, namespace, name } = target;
  if (name !== '' || (kind.namespaced && namespace === '')) throw methodNotAllowed();
  const body = parseObject(request, kind);
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  const { uid: _uid, creationTimestamp: _created, resourceVersion, ...others } = given;
  const { deletionTimestamp: _deleted, deletionGracePeriodSeconds: _grace, ...rest } = others;
  checkNamespace(store, target, rest);
  const metadata = inNamespace(target, { ...rest, name: nameOf(kind, rest, random) });
  const wanted = prepareForCreate(kind, { ...body, metadata });
  confirmNoEscalation(store, { target, caller, wanted });
  if (kind.name === DEFINITIONS) checkDefinition(wanted);
  checkMetadata(kind, wanted.metadata, true);
  if (resourceVersion)
    throw new ApiError({ code: 500, message: 'resourceVersion should not be set on objects to be created' });
  const managed = kind.isManaged ? managedByUpdate(undefined, wanted, managerOf(request, writing)) : wanted;
  return store.create(kind.storedAs, managed, { dryRun: isDryRun(request) });
}

function nameOf(kind: ResourceKind, { name, generateName }: Record<string, unknown>, random: Random): string {
  if (typeof name === 'string' && name !== '') return name;
  if (typeof generateName === 'string' && generateName !== '') return `${generateName}${suffix(random)}`;
  const message = 'Required value: name or generateName is required';
  const problem: InvalidField = { field: 'metadata.name', reason: 'FieldValueRequired', message };
  throw invalid({ ...kind, name: '' }, kind.isCustom ? [problem, UNCHECKED] : [problem]);
}

/** The cause that a real server adds if errors of the schema kept it from checking the CEL rules of the definition. */
const UNCHECKED: InvalidField = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** Five characters without vowels, as the API server makes names. */
const suffix = (random: Random): string =>
  Array.from(random.bytes(5), (byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]).join('');

function checkNamespace(
  store: ObjectStore,
  { kind, namespace }: ResourceTarget,
  { name = '', namespace: given }: { readonly name?: unknown; readonly namespace?: unknown },
): void {
  if (!kind.namespaced) return;
  if (given !== undefined && given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  const home = store.get('namespaces', namespace);
  if (!home) throw notFound(store.collection('namespaces').kind, namespace);
  if (home.metadata['deletionTimestamp']) throw beingTerminated(kind, namespace, String(name));
}

function beingTerminated(kind: ResourceKind, namespace: string, name: string): ApiError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  return refused(kind, name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** Serves PUT. */
export function updateObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { target } = writing;
  const { kind, name } = target;
  if (name === '') throw methodNotAllowed();
  const body = parseObject(request, kind);
  const given = (isRecord(body['metadata']) ? body['metadata'] : {}) as Partial<NewObject['metadata']>;
  if (given.name !== name)
    throw badRequest(`the name of the object (${given.name ?? ''}) does not match the name on the URL (${name})`);
  const wanted = { ...body, metadata: inNamespace(target, { ...given, name }) };
  const stored = store.get(kind.storedAs, targetKey(target));
  if (stored) {
    store.checkCurrent(kind.storedAs, wanted);
    if (kind.putNeedsVersion && !given.resourceVersion) throw versionRequired(kind, name);
    return { object: storeUpdate(store, { ...writing, request, stored, wanted }), created: false };
  }
  if (!kind.putCreates) throw notFound(kind, name);
  if (given.uid) throw conflict(kind, name, uidMismatch(given.uid, ''));
  if (given.resourceVersion) throw notFound(kind, name);
  return { object: createByName(store, wanted, { ...writing, request }), created: true };
}

/** Creates the absent object of a PUT or PATCH, if the caller has the right to create it. */
export function createByName(
  store: ObjectStore,
  wanted: NewObject,
  { target, caller, request }: Writing & { readonly request: ApiRequest },
): KubeObject {
  const { kind } = target;
  const prepared = prepareForCreate(kind, wanted);
  confirmNoEscalation(store, { target, caller, wanted: prepared });
  authorizeRequest(store, caller, { ...request, verb: 'create' });
  checkNamespace(store, target, wanted.metadata);
  checkMetadata(kind, prepared.metadata, true);
  return store.create(kind.storedAs, prepared, { dryRun: isDryRun(request) });
}

interface Update extends Writing {
  readonly request: ApiRequest;
  readonly stored: KubeObject;
  readonly wanted: NewObject;
  /** `wanted` already has its `managedFields`. */
  readonly isApplied?: true;
}

/** Stores an update, or removes the object if it is being deleted and loses its last finalizer. Returns its last state. */
export function storeUpdate(store: ObjectStore, update: Update): KubeObject {
  const { request, target, caller, stored, wanted, isApplied } = update;
  const { storedAs, isManaged } = target.kind;
  const dryRun = isDryRun(request);
  const prepared = prepareForUpdate(target, stored, wanted);
  const isOurs = isManaged && !isApplied;
  const next = isOurs ? managedByUpdate(stored, prepared, managerOf(request, update)) : prepared;
  confirmNoEscalation(store, { target, caller, wanted: next, stored });
  store.checkCurrent(storedAs, next);
  if (target.kind.name === DEFINITIONS) checkDefinition(next);
  checkMetadata(target.kind, next.metadata, false);
  if (!completesDeletion(stored, next)) return store.update(storedAs, next, { dryRun });
  const last = store.update(storedAs, next, { dryRun: true });
  store.remove(storedAs, targetKey(target), { dryRun });
  return last;
}

function versionRequired(kind: ResourceKind, name: string): ApiError {
  const message = 'Invalid value: 0: must be specified for an update';
  return invalid({ group: kind.group, kind: kind.plural, name }, [
    { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message },
  ]);
}
