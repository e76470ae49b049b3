import { type Bench, listPlan } from './bench.ts';
import { memoryOf, type Resident } from './load/usage.ts';
import { startSimulated } from './peers/clusters.ts';
import { DEPLOYED_HEAP, startGatehouse } from './peers/gatehouse.ts';
import { CODINGS } from './peers/peer.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** Memory and start of a large cluster. */
export interface SizeResults {
  readonly nodes: number;
  readonly pods: number;
  readonly startToReadyMs: number;
  readonly memory: MemoryUse;
  readonly startUps: readonly StartUp[];
}

/** Resident memory in bytes; undefined if the platform does not report it. */
export interface MemoryUse {
  readonly afterSync: number | undefined;
  /** The highest value until the first sync. */
  readonly syncPeak: number | undefined;
  readonly afterLoad: number | undefined;
  readonly peak: number | undefined;
}

export interface StartUp {
  readonly nodes: number;
  /** One value a round, each of a new process. */
  readonly startToReadyMs: readonly number[];
}

/**
 * Resident memory with 5,000 nodes and 150,000 pods: when the server is ready, and the highest value until the load is
 * over.
 */
const MEMORY_BYTES = { afterSync: 300e6, peak: 400e6 } as const;

/** Start to ready, by number of nodes; ten pods are on each. 15,000 nodes: R-11. */
const START_MS: Readonly<Record<number, number>> = { 10: 1_000, 5000: 8_000, 15000: 15_000 };

const NODES = 5_000;
const PODS_PER_NODE = 30;
/** The numbers of nodes, each with ten pods: with 5,000 nodes these are the 50,000 pods of the target. */
const START_SIZES = [10, 5_000, 15_000];

/**
 * A large cluster is simulated, because filling a real one with 150,000 pods takes the API server and etcd an hour on
 * two cores.
 */
export async function measureSize(bench: Bench): Promise<SizeResults> {
  bench.note(`memory with ${NODES} nodes and ${NODES * PODS_PER_NODE} pods`);
  const cluster = await startSimulated(NODES, PODS_PER_NODE);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'size', nodeArguments: DEPLOYED_HEAP });
  const afterSync = await memoryOf(gatehouse);
  for (const coding of CODINGS) await bench.generator.load(listPlan(gatehouse, coding, bench.options.seconds));
  const afterLoad = await memoryOf(gatehouse);
  const { startToReadyMs } = gatehouse;
  await gatehouse.stop();
  await cluster.stop();
  const startUps = await measureStartUps(bench, START_SIZES);
  const memory = memoryUse(afterSync, afterLoad);
  return { nodes: NODES, pods: NODES * PODS_PER_NODE, startToReadyMs, memory, startUps };
}

/** Always measured: the shortest possible start. */
const START_SIZE = 10;

/** Starts new processes, one after the other, and measures the time until their log line `ready`. */
export async function measureStartUps(bench: Bench, sizes: readonly number[]): Promise<StartUp[]> {
  const startUps: StartUp[] = [];
  for (const nodes of new Set([START_SIZE, ...sizes])) {
    bench.note(`start to ready, ${nodes} nodes`);
    const cluster = await startSimulated(nodes);
    const startToReadyMs: number[] = [];
    for (let round = 0; round < bench.options.rounds; round++) {
      const gatehouse = await startGatehouse(bench.children, { ...cluster, name: `start-${nodes}` });
      startToReadyMs.push(gatehouse.startToReadyMs);
      await gatehouse.stop();
    }
    await cluster.stop();
    startUps.push({ nodes, startToReadyMs });
  }
  return startUps;
}

/** Combines the memory at two moments. */
export const memoryUse = (afterSync: Resident, afterLoad: Resident): MemoryUse => ({
  afterSync: afterSync.now,
  syncPeak: afterSync.peak,
  afterLoad: afterLoad.now,
  peak: afterLoad.peak,
});

/** Memory and start of a large cluster as text: tables with their targets. */
export function printSize({ nodes, pods, memory, startToReadyMs, startUps }: SizeResults): string {
  const { afterSync, peak } = MEMORY_BYTES;
  const row = (name: string, bytes: number | undefined, most: number): string[] => [
    name,
    megabytes(bytes),
    `≤ ${megabytes(most)}`,
    bytes === undefined ? '–' : verdict(bytes <= most),
  ];
  const rows = [
    row('after sync', memory.afterSync, afterSync),
    row('peak during sync', memory.syncPeak, peak),
    row('after load', memory.afterLoad, peak),
    row('peak', memory.peak, peak),
  ];
  const title = `Resident memory with ${count(nodes)} nodes of 12 kB and ${count(pods)} pods on the simulated API server`;
  return [
    table(title, ['', 'measured', 'target', ''], rows),
    `Ready after ${number(startToReadyMs)} ms.`,
    '',
    startTable(startUps),
  ].join('\n');
}

export function startTable(startUps: readonly StartUp[]): string {
  const rows = startUps.map(({ nodes, startToReadyMs }) => {
    const most = START_MS[nodes];
    const ms = median(startToReadyMs);
    const judged = most === undefined ? ['–', ''] : [`≤ ${count(most)}`, verdict(ms <= most)];
    return [count(nodes), number(ms), number(Math.max(...startToReadyMs)), ...judged];
  });
  const title = 'Start to ready on the simulated API server, ten pods a node';
  return table(title, ['nodes', 'ms', 'slowest', 'target', ''], rows);
}
