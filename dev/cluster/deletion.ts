import type { Clock } from '../../src/runtime/clock.ts';
import { isDryRun } from './dry-run.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseJson } from './request-body.ts';
import { methodNotAllowed, notFound, preconditionFailed } from './status.ts';
import { timestamp } from './timestamp.ts';

/** What a deletion has done. `isGone` false: the object is only marked. */
interface Deletion {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/**
 * DELETE, with preconditions on uid and version. An object with finalizers is only marked: whoever removes the last of
 * them removes it. A pod that runs on a node is only marked, too, because its kubelet would end it; `gracePeriodSeconds`
 * 0 removes it.
 */
export function deleteObject(
  store: ObjectStore,
  request: ApiRequest,
  { target, clock }: { target: ResourceTarget; clock: Clock },
): Deletion {
  const { kind, name } = target;
  if (name === '') throw methodNotAllowed();
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const options = request.body.length === 0 ? {} : parseJson(request.body);
  checkPreconditions(target, stored, isRecord(options['preconditions']) ? options['preconditions'] : {});
  const graceSeconds = Number(request.query.get('gracePeriodSeconds') ?? options['gracePeriodSeconds'] ?? 30);
  const dryRun = isDryRun(request);
  const isGraceful = kind.plural === 'pods' && graceSeconds !== 0 && isRunning(stored);
  if (!isGraceful && !hasFinalizers(stored))
    return { object: store.remove(kind.plural, targetKey(target), { dryRun }), isGone: true };
  if (stored.metadata['deletionTimestamp']) return { object: stored, isGone: false };
  const marked = marks(stored, { nowMs: clock.now(), graceSeconds: isGraceful ? graceSeconds : 0 });
  return { object: store.update(kind.plural, marked, { dryRun }), isGone: false };
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

/** Whether this update removes the last finalizer of an object that waits for that only. */
export const completesDeletion = (stored: KubeObject, wanted: NewObject): boolean =>
  stored.metadata['deletionGracePeriodSeconds'] === 0 && !hasFinalizers(wanted);

const isRunning = ({ spec, status }: KubeObject): boolean =>
  Boolean(spec?.['nodeName']) && status?.['phase'] !== 'Succeeded' && status?.['phase'] !== 'Failed';

function checkPreconditions({ kind }: ResourceTarget, { metadata }: KubeObject, wanted: Record<string, unknown>): void {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = wanted;
  if (uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw preconditionFailed(kind, metadata.name, why);
  }
  if (resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw preconditionFailed(kind, metadata.name, why);
  }
}
