import type { Clock } from '../../src/runtime/clock.ts';
import { isRecord, type KubeObject } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseJson } from './request-body.ts';
import { methodNotAllowed, notFound, preconditionFailed } from './status.ts';
import { timestamp } from './timestamp.ts';

/**
 * DELETE, with preconditions on uid and version. A pod that runs on a node is only marked, because its kubelet would
 * end it; `gracePeriodSeconds` 0 removes it. Everything else is gone at once: there are no finalizers here.
 */
export function deleteObject(
  store: ObjectStore,
  request: ApiRequest,
  { target, clock }: { target: ResourceTarget; clock: Clock },
): KubeObject {
  const { kind, name } = target;
  if (name === '') throw methodNotAllowed();
  const stored = store.get(kind.plural, targetKey(target));
  if (!stored) throw notFound(kind, name);
  const options = request.body.length === 0 ? {} : parseJson(request.body);
  checkPreconditions(target, stored, isRecord(options['preconditions']) ? options['preconditions'] : {});
  const graceSeconds = Number(request.query.get('gracePeriodSeconds') ?? options['gracePeriodSeconds'] ?? 30);
  if (kind.plural !== 'pods' || graceSeconds === 0 || !isRunning(stored))
    return store.remove(kind.plural, targetKey(target));
  if (stored.metadata['deletionTimestamp']) return stored;
  const deletionTimestamp = timestamp(clock.now() + graceSeconds * 1000);
  const metadata = { ...stored.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
  return store.update('pods', { ...stored, metadata });
}

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
