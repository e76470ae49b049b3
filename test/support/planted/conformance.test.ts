import { startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { describeConformance } from '../conformance/conformance.ts';
import { FAULTS } from './faults.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

/**
 * Outside the tiers, because most of it is meant to fail: the conformance suite on a simulated cluster with the fault
 * that the environment names. `test/integration/planted` runs it.
 */
const name = process.env['PLANTED_FAULT'] ?? '';
const fault = FAULTS[name];
if (!fault) throw new Error(`no such fault: ${name}`);

describeConformance(name, async () => {
  const powerlessToken = 'powerless';
  const cluster = await startSimulatedCluster({ tokens: { [powerlessToken]: { username: 'nobody', groups: [] } } });
  const proxy = await startFaultyProxy(cluster.url, fault);
  return {
    url: proxy.url,
    token: cluster.adminToken,
    powerlessToken,
    compact: async () => cluster.compact(),
    stop: async () => {
      await proxy.stop();
      await cluster.stop();
    },
  };
});
