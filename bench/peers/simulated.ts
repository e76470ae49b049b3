import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../dev/cluster/cluster.ts';
import { populate } from '../../dev/cluster/population.ts';
import type { BenchCluster } from './bench-cluster.ts';
import { NODE_BYTES } from './nodes.ts';

/** As a small real cluster has them; they cost Gatehouse memory and a watch, and nothing per list. */
const PODS_PER_NODE = 10;

/** The simulated API server, in this process. */
export interface Simulation extends BenchCluster {
  readonly cluster: SimulatedCluster;
}

/** Everybody may do everything, unless told otherwise. */
export async function startSimulated(
  nodes: number,
  podsPerNode = PODS_PER_NODE,
  authorize: SimulatedClusterOptions['authorize'] = () => true,
): Promise<Simulation> {
  const cluster = await startSimulatedCluster({ authorize });
  populate(cluster.objects, { nodes, podsPerNode, nodeBytes: NODE_BYTES });
  return {
    name: 'the simulated API server',
    target: { port: Number(new URL(cluster.url).port), headers: { authorization: `Bearer ${cluster.adminToken}` } },
    kubeconfig: cluster.kubeconfig(),
    nodeNames: cluster.objects.list('nodes').map((node) => node.metadata.name),
    cluster,
    stop: () => cluster.stop(),
  };
}
