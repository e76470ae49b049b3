import { listPlan } from './compare.ts';
import { type Bench, measureStartUps, memoryUse } from './measure.ts';
import { DEPLOYED_HEAP, startGatehouse } from './peers/gatehouse.ts';
import { memoryOf } from './peers/memory.ts';
import { CODINGS } from './peers/peer.ts';
import { startSimulated } from './peers/simulated.ts';
import type { MemoryUse, StartUp } from './results.ts';

export interface SizeResults {
  readonly nodes: number;
  readonly pods: number;
  readonly startToReadyMs: number;
  readonly memory: MemoryUse;
  readonly startUps: readonly StartUp[];
}

const NODES = 5_000;
const PODS_PER_NODE = 30;
/** Ten pods on each: with 5,000 nodes these are the 50,000 pods of the budget. */
const START_SIZES = [10, 5_000, 15_000];

/** A large cluster, simulated: filling a real one with 150,000 pods takes the API server and etcd an hour on two cores. */
export async function measureSize(bench: Bench): Promise<SizeResults> {
  bench.note(`memory with ${NODES} nodes and ${NODES * PODS_PER_NODE} pods`);
  const cluster = await startSimulated(NODES, PODS_PER_NODE);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'size', nodeArguments: DEPLOYED_HEAP });
  const afterSync = await memoryOf(gatehouse);
  for (const coding of CODINGS) await bench.generator.load(listPlan(gatehouse, coding, bench.extent.seconds));
  const afterLoad = await memoryOf(gatehouse);
  const { startToReadyMs } = gatehouse;
  await gatehouse.stop();
  await cluster.stop();
  const startUps = await measureStartUps(bench, START_SIZES, startSimulated);
  const memory = memoryUse(afterSync, afterLoad);
  return { nodes: NODES, pods: NODES * PODS_PER_NODE, startToReadyMs, memory, startUps };
}
