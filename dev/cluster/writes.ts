import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { completesDeletion } from './deletion.ts';
import { isDryRun } from './dry-run.ts';
import { confirmNoEscalation } from './escalation.ts';
import { type Manager, managedByUpdate } from './field-managers.ts';
import type { Identity } from './identity.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseObject } from './request-body.ts';
import { ApiError, badRequest, invalid, methodNotAllowed, notFound } from './status.ts';
import { prepareForCreate, prepareForUpdate } from './strategy.ts';
import { timestamp } from './timestamp.ts';

/** Who writes where, and when. */
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

/** POST. */
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
  if (given['resourceVersion'])
    throw new ApiError({ code: 500, message: 'resourceVersion should not be set on objects to be created' });
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, ...others } = given;
  const { deletionTimestamp: _deleted, deletionGracePeriodSeconds: _grace, ...rest } = others;
  checkNamespace(store, target, rest['namespace']);
  checkName(kind, rest['name']);
  const metadata = { ...rest, name: nameOf(kind, rest, random), ...(kind.namespaced ? { namespace } : {}) };
  const wanted = prepareForCreate(kind, { ...body, metadata });
  confirmNoEscalation(store, { target, caller, wanted });
  const managed = kind.isManaged ? managedByUpdate(undefined, wanted, managerOf(request, writing)) : wanted;
  return store.create(kind.plural, managed, { dryRun: isDryRun(request) });
}

function nameOf(kind: ResourceKind, { name, generateName }: Record<string, unknown>, random: Random): string {
  if (typeof name === 'string' && name !== '') return name;
  if (typeof generateName === 'string' && generateName !== '') return `${generateName}${suffix(random)}`;
  const message = 'Required value: name or generateName is required';
  throw invalid({ ...kind, name: '' }, [{ field: 'metadata.name', reason: 'FieldValueRequired', message }]);
}

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const ANCHORED = new RegExp(`^${SUBDOMAIN}$`);

/** RFC 1123, as most kinds have it. Names of RBAC may be any segment of a path; those of namespaces have no dots. */
function checkName(kind: ResourceKind, name: unknown): void {
  if (kind.group === 'rbac.authorization.k8s.io' || typeof name !== 'string' || name === '' || ANCHORED.test(name))
    return;
  const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
  const message = `Invalid value: ${JSON.stringify(name)}: ${rule}`;
  throw invalid({ ...kind, name }, [{ field: 'metadata.name', reason: 'FieldValueInvalid', message }]);
}

/** Five characters without vowels, as the API server makes names. */
const suffix = (random: Random): string =>
  Array.from(random.bytes(5), (byte) => 'bcdfghjklmnpqrstvwxz2456789'[byte % 27]).join('');

export function checkNamespace(store: ObjectStore, { kind, namespace }: ResourceTarget, given: unknown): void {
  if (!kind.namespaced) return;
  if (given !== undefined && given !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (!store.get('namespaces', namespace)) throw notFound(store.collection('namespaces').kind, namespace);
}

export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** PUT. */
export function updateObject(store: ObjectStore, request: ApiRequest, writing: Writing): Written {
  const { target } = writing;
  const { kind, name, namespace } = target;
  if (name === '') throw methodNotAllowed();
  const body = parseObject(request, kind);
  const given = (isRecord(body['metadata']) ? body['metadata'] : {}) as Partial<NewObject['metadata']>;
  if (given.name !== name)
    throw badRequest(`the name of the object (${given.name ?? ''}) does not match the name on the URL (${name})`);
  const wanted = { ...body, metadata: { ...given, name, ...(kind.namespaced ? { namespace } : {}) } };
  const stored = store.get(kind.plural, targetKey(target));
  if (stored) {
    if ((kind.putCreates || kind.isCustom) && !given.resourceVersion) throw versionRequired(kind, name);
    return { object: storeUpdate(store, { ...writing, request, stored, wanted }), created: false };
  }
  if (!kind.putCreates || given.resourceVersion) throw notFound(kind, name);
  checkNamespace(store, target, given.namespace);
  const object = store.create(kind.plural, prepareForCreate(kind, wanted), { dryRun: isDryRun(request) });
  return { object, created: true };
}

interface Update extends Writing {
  readonly request: ApiRequest;
  readonly stored: KubeObject;
  readonly wanted: NewObject;
  /** Already says who manages it. */
  readonly isApplied?: true;
}

/** Without its last finalizer, an object that is being deleted goes; the answer is what it was at last. */
export function storeUpdate(store: ObjectStore, update: Update): KubeObject {
  const { request, target, caller, stored, wanted, isApplied } = update;
  const { plural, isManaged } = target.kind;
  const dryRun = isDryRun(request);
  const prepared = prepareForUpdate(target, stored, wanted);
  const isOurs = isManaged && !isApplied;
  const next = isOurs ? managedByUpdate(stored, prepared, managerOf(request, update)) : prepared;
  confirmNoEscalation(store, { target, caller, wanted: next, stored });
  if (!completesDeletion(stored, next)) return store.update(plural, next, { dryRun });
  const last = store.update(plural, next, { dryRun: true });
  store.remove(plural, targetKey(target), { dryRun });
  return last;
}

function versionRequired(kind: ResourceKind, name: string): ApiError {
  const message = 'Invalid value: 0: must be specified for an update';
  return invalid({ group: kind.group, kind: kind.plural, name }, [
    { field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message },
  ]);
}
