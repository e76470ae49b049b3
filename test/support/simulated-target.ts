import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import type { ConformanceTarget } from './conformance/target.ts';
import { hurriedClock } from './hurried-clock.ts';

/**
 * The suite waits for time-outs of up to eight seconds. A server in this process needs only a fourth of that, which
 * still leaves time for the steps before.
 */
const TIMES = 4;

/** The simulated cluster as the conformance suite meets it. */
export async function startSimulatedTarget(): Promise<ConformanceTarget> {
  const powerlessToken = 'powerless';
  const tokens = { [powerlessToken]: { username: 'nobody', groups: [] } };
  const cluster = await startSimulatedCluster({ tokens, clock: hurriedClock(TIMES) });
  return {
    url: cluster.url,
    token: cluster.adminToken,
    powerlessToken,
    compact: async () => cluster.compact(),
    stop: () => cluster.stop(),
  };
}
