import type { Cluster } from '../../kubernetes/cluster.ts';
import { createLease, type Lease } from '../../kubernetes/leases/lease.ts';
import type { Shared } from '../family.ts';
import type { Part } from '../run-group.ts';

/** 128 random bits, so that no two processes have the same identity. */
const IDENTITY_BYTES = 16;

interface AccountLeaseParts extends Pick<Shared, 'clock' | 'random' | 'logger'> {
  readonly cluster: Pick<Cluster, 'objects' | 'namespace'>;
}

/** The Lease `<platform>-accounts`: its holder does first what one replica is enough for. */
export function createAccountLease(
  platform: string,
  parts: AccountLeaseParts,
): Pick<Lease, 'isHolder'> & { part: Part } {
  const { cluster, random } = parts;
  const identity = random.bytes(IDENTITY_BYTES).toString('hex');
  const lease = createLease({ name: `${platform}-accounts`, namespace: cluster.namespace, identity }, parts);
  return {
    isHolder: () => lease.isHolder(),
    part: { name: 'lease of the accounts', run: (signal) => lease.run(signal) },
  };
}
