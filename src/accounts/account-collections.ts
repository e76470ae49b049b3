import type { ClusterObjects, ObjectCollection } from '../kubernetes/objects/cluster-objects.ts';
import { type AccountNames, loginRecordsOf, usersOf } from './names.ts';
import { CLUSTER_ROLE_BINDINGS } from './roles/role-binding.ts';
import { createStatusPatch, type StatusPatch } from './states/status-patch.ts';

/** The cluster's collections that hold accounts. Calls go to the cluster, not to memory. */
export interface AccountCollections {
  /** The User objects. */
  readonly objects: ClusterObjects;
  readonly patchStatus: StatusPatch;
  readonly bindings: ClusterObjects;
  readonly loginRecords: ClusterObjects;
}

export function accountCollections(
  names: AccountNames,
  cluster: { objects(collection: ObjectCollection): ClusterObjects },
): AccountCollections {
  const objects = cluster.objects(usersOf(names));
  return {
    objects,
    patchStatus: createStatusPatch(objects),
    bindings: cluster.objects(CLUSTER_ROLE_BINDINGS),
    loginRecords: cluster.objects(loginRecordsOf(names)),
  };
}
