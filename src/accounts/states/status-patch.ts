import { ClusterError } from '../../kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { asObject } from '../../runtime/text/json-value.ts';

/** What the stored object must match; otherwise the write is a conflict, or is refused. */
interface Expected {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

type StatusMembers = Readonly<Record<string, string | null>>;

/** Merges members into the status of a User object; null removes one. Rejects as `ClusterObjects.patch` does. */
export type StatusPatch = (name: string, status: StatusMembers, expected?: Expected) => Promise<KubernetesObject>;

/**
 * Patches the status subresource, or the object itself if the custom resource has no such subresource, as in KubeSphere 3.4. A
 * 404 of the subresource may also mean that the user is missing, or that the API server is in trouble. So the subresource is
 * tried first each time, and a patch of the object counts only if the answer shows the change: where there is a subresource, a
 * patch of the object leaves the status as it was.
 */
export function createStatusPatch(objects: Pick<ClusterObjects, 'patch'>): StatusPatch {
  return async (name, status, expected = {}) => {
    const patch = { metadata: expected, status };
    try {
      return await objects.patch(name, patch, { subresource: 'status' });
    } catch (error) {
      if (!(error instanceof ClusterError && error.status.code === 404)) throw error;
      const changed = await objects.patch(name, patch); // rejects if the first 404 was about the user
      if (!hasTaken(changed, status)) throw new Error('the cluster did not take the status over', { cause: error });
      return changed;
    }
  };
}

function hasTaken(object: KubernetesObject, asked: StatusMembers): boolean {
  const status = asObject(object['status']);
  return Object.entries(asked).every(([member, value]) => (status[member] ?? null) === value);
}
