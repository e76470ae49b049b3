import type { Clock } from '../../src/runtime/clock.ts';
import { refused } from './authorize.ts';
import { DEFINITIONS } from './custom/definition.ts';
import { CLEANUP } from './custom/definitions.ts';
import { isDryRun } from './dry-run.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseJson } from './request-body.ts';
import { type ApiError, conflict, methodNotAllowed, notFound, preconditionFailed } from './status.ts';
import { timestamp } from './timestamp.ts';

/** The result of a deletion. If `isGone` is false, the object is only marked as deleted. */
interface Deletion {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/**
 * DELETE, with preconditions on uid and version. An object with finalizers is only marked; the update that removes the last finalizer
 * removes it. A pod that runs on a node is only marked, too, because its kubelet would end it; `gracePeriodSeconds` 0 removes it.
 */
export function deleteObject(
  store: ObjectStore,
  request: ApiRequest,
  { target, clock }: { target: ResourceTarget; clock: Clock },
): Deletion {
  const { kind, name } = target;
  if (name === '') throw methodNotAllowed();
  const stored = store.get(kind.storedAs, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const options = request.body.length === 0 ? {} : parseJson(request.body);
  checkPreconditions(target, stored, isRecord(options['preconditions']) ? options['preconditions'] : {});
  const dryRun = isDryRun(request);
  // If the request has a body, the options in the query are ignored.
  const asked =
    request.body.length > 0 ? options['gracePeriodSeconds'] : (request.query.get('gracePeriodSeconds') ?? undefined);
  if (kind.name === 'namespaces') return { object: terminate(store, stored, { target, clock, dryRun }), isGone: false };
  if (kind.name === DEFINITIONS) return endDefinition(store, stored, { target, clock, dryRun });
  if (kind.name === 'pods') return endPod(store, stored, { target, clock, dryRun, asked });
  if (!hasFinalizers(stored))
    return { object: store.remove(kind.storedAs, targetKey(target), { dryRun }), isGone: true };
  if (stored.metadata['deletionTimestamp']) return { object: stored, isGone: false };
  const marked = marks(stored, { nowMs: clock.now(), graceSeconds: 0 });
  return { object: store.update(kind.storedAs, marked, { dryRun }), isGone: false };
}

interface Ending {
  readonly target: ResourceTarget;
  readonly clock: Clock;
  readonly dryRun: boolean;
}

/**
 * Marks a pod as deleted. A pod that runs on a node stays, because its kubelet would end it. Any other pod is removed at once, and so
 * is one with a grace period of 0. A further deletion can only shorten the grace period.
 */
function endPod(
  store: ObjectStore,
  stored: KubeObject,
  { target, clock, dryRun, asked }: Ending & { readonly asked: unknown },
): Deletion {
  const wasMarked = stored.metadata['deletionTimestamp'] !== undefined;
  const wanted = Number(asked ?? stored.spec?.['terminationGracePeriodSeconds'] ?? 30);
  const graceSeconds = wasMarked || isRunning(stored) ? wanted : 0;
  const isNoSooner = graceSeconds >= Number(stored.metadata['deletionGracePeriodSeconds'] ?? 0);
  if (wasMarked && (asked === undefined || isNoSooner)) return { object: stored, isGone: false };
  const marked = store.update('pods', marks(stored, { nowMs: clock.now(), graceSeconds }), { dryRun });
  if (graceSeconds !== 0 || hasFinalizers(stored)) return { object: marked, isGone: false };
  return { object: dryRun ? marked : store.remove('pods', targetKey(target)), isGone: true };
}

/** Marks a definition as deleted. The store removes its objects, and then the definition, as the controllers of a real server do. */
function endDefinition(store: ObjectStore, stored: KubeObject, { clock, dryRun }: Ending): Deletion {
  if (stored.metadata['deletionTimestamp']) return { object: stored, isGone: false };
  const finalizers = [...((stored.metadata['finalizers'] ?? []) as readonly string[]), CLEANUP];
  const metadata = { ...stored.metadata, deletionTimestamp: timestamp(clock.now()), finalizers };
  return { object: store.update(DEFINITIONS, { ...stored, metadata }, { dryRun }), isGone: false };
}

const KEPT_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-public', 'kube-system']);

/**
 * Marks a namespace as deleted, which then accepts no new content. The namespace and its objects stay, because there is no controller
 * here that would remove them.
 */
function terminate(
  store: ObjectStore,
  stored: KubeObject,
  { target: { kind, name }, clock, dryRun }: Ending,
): KubeObject {
  if (KEPT_NAMESPACES.has(name)) throw refused(kind, name, 'this namespace may not be deleted');
  if (stored.metadata['deletionTimestamp']) return stored;
  const metadata = { ...stored.metadata, deletionTimestamp: timestamp(clock.now()) };
  return store.update(
    'namespaces',
    { ...stored, metadata, status: { ...stored.status, phase: 'Terminating' } },
    { dryRun },
  );
}

function marks(stored: KubeObject, { nowMs, graceSeconds }: { nowMs: number; graceSeconds: number }): KubeObject {
  const { generation } = stored.metadata;
  const metadata = {
    ...stored.metadata,
    ...(typeof generation === 'number' ? { generation: generation + 1 } : {}),
    deletionTimestamp: timestamp(nowMs + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
  };
  return { ...stored, metadata };
}

const hasFinalizers = ({ metadata }: Pick<NewObject, 'metadata'>): boolean =>
  Array.isArray(metadata['finalizers']) && metadata['finalizers'].length > 0;

/** Whether this update removes the last finalizer of a deleted object that waits for nothing else. */
export const completesDeletion = (stored: KubeObject, wanted: NewObject): boolean =>
  stored.metadata['deletionGracePeriodSeconds'] === 0 && !hasFinalizers(wanted);

const isRunning = ({ spec, status }: KubeObject): boolean =>
  Boolean(spec?.['nodeName']) && status?.['phase'] !== 'Succeeded' && status?.['phase'] !== 'Failed';

function checkPreconditions(
  { kind }: ResourceTarget,
  { metadata: { name, uid, resourceVersion } }: KubeObject,
  wanted: Record<string, unknown>,
): void {
  // A real server checks namespaces in other code, with other texts.
  const isOwn = kind.name === 'namespaces';
  const refuse = (why: string, own: string): ApiError =>
    isOwn ? conflict(kind, name, `Precondition failed: ${own}`) : preconditionFailed(kind, name, why);
  const { uid: wantedUid = uid, resourceVersion: wantedVersion = resourceVersion } = wanted;
  if (wantedUid !== uid) {
    const why = `the UID in the precondition (${wantedUid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw refuse(why, `UID in precondition: ${wantedUid}, UID in object meta: ${uid}`);
  }
  if (wantedVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wantedVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw refuse(
      why,
      `ResourceVersion in precondition: ${wantedVersion}, ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
}
