import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import type { ConformanceTarget } from './conformance/target.ts';
import { hurriedClock } from './hurried-clock.ts';

/**
 * The suite waits for time-outs of up to eight seconds. With a server in this process they take a quarter of that, which is still enough
 * for the steps before them.
 */
const TIMES = 4;

/** Starts the simulated cluster as a target of the conformance suite. */
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
