import type { SimulatedCluster } from '../../dev/cluster/cluster.ts';
import type { ApiRequest } from '../../dev/cluster/request.ts';

export const FOLLOWING_ROLE = 'gatehouse:gateway:accounts-0';

/** A gateway that follows the accounts; the users of the users file are named. */
export const FOLLOWING_CONFIG = {
  accounts: { enabled: true },
  gateway: {
    enabled: true,
    users: ['ada', 'joe'],
    accounts: { enabled: true, clusterRoles: [FOLLOWING_ROLE] },
  },
};

/** The words of an API server with the chart's policy, which the simulated one does not evaluate. */
const DENIED =
  "clusterroles is forbidden: ValidatingAdmissionPolicy 'gatehouse.impersonation' with binding 'gatehouse.impersonation' denied request";

/** Gives the cluster the ClusterRole, a policy that refuses each dry run of it, and a user who is chosen. */
export function prepareFollowing(cluster: SimulatedCluster): void {
  cluster.objects.create('clusterroles', { metadata: { name: FOLLOWING_ROLE } });
  const isDryRun = ({ query }: ApiRequest): boolean => query.has('dryRun');
  cluster.faults.until({ kind: 'clusterroles', verb: 'patch', when: isDryRun }, { status: 403, message: DENIED });
  const metadata = { name: 'followed', finalizers: ['finalizers.gatehouse.io/users'] };
  cluster.objects.create('users', { metadata, spec: { email: '' }, status: { state: 'Active' } });
}
