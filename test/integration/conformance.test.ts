import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { describeConformance } from '../support/conformance/conformance.ts';

describeConformance('the simulated cluster', async () => {
  const powerlessToken = 'powerless';
  const cluster = await startSimulatedCluster({ tokens: { [powerlessToken]: { username: 'nobody', groups: [] } } });
  return {
    url: cluster.url,
    token: cluster.adminToken,
    powerlessToken,
    compact: async () => cluster.compact(),
    stop: () => cluster.stop(),
  };
});
