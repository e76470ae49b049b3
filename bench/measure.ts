import type { Children } from './children.ts';
import { compare, type Extent, listPlan } from './compare.ts';
import type { Generator } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import type { VisibleReport } from './load/visible.ts';
import type { Note } from './note.ts';
import { startBare } from './peers/bare.ts';
import type { BenchCluster } from './peers/bench-cluster.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { memoryOf } from './peers/memory.ts';
import { fetchList, fetchSettledGzip, type Peer } from './peers/peer.ts';
import type { Measured, StartUp } from './results.ts';

/** What every measurement needs. */
export interface Bench {
  readonly children: Children;
  readonly generator: Generator;
  readonly note: Note;
  readonly extent: Extent;
}

const VISIBLE_TRIES = 100;
/** A change each 10 ms and a bit: about the hundred a second of a large cluster. */
const VISIBLE_PAUSE_MS = 10;
const VISIBLE_TIMEOUT_MS = 5_000;
const START_SIZE = 10;

/** What the generator reaches when neither bytes nor the server's work are in the way. */
export async function measureCeiling({ children, generator, note, extent }: Bench): Promise<LoadReport> {
  note('ceiling of the load generator: a bare server with an answer of 2 bytes');
  const tiny = Buffer.from('{}');
  const bare = await startBare(children, { identity: tiny, gzip: tiny });
  const report = await generator.load(listPlan(bare, 'identity', extent.seconds));
  await bare.stop();
  return report;
}

/** New processes, one after the other, until their log line `ready`. */
export async function measureStartUps(
  bench: Bench,
  sizes: readonly number[],
  startCluster: (nodes: number) => Promise<BenchCluster>,
): Promise<StartUp[]> {
  const startUps: StartUp[] = [];
  for (const nodes of new Set([START_SIZE, ...sizes])) {
    bench.note(`start to ready, ${nodes} nodes`);
    const cluster = await startCluster(nodes);
    const startToReadyMs: number[] = [];
    for (let round = 0; round < bench.extent.rounds; round++) {
      const gatehouse = await startGatehouse(bench.children, { ...cluster, name: `start-${nodes}` });
      startToReadyMs.push(gatehouse.startToReadyMs);
      await gatehouse.stop();
    }
    await cluster.stop();
    startUps.push({ nodes, startToReadyMs });
  }
  return startUps;
}

/** Gatehouse on this cluster, beside a bare server with the same bytes and the peers given. */
export async function measureOn(bench: Bench, cluster: BenchCluster, peers: readonly Peer[]): Promise<Measured> {
  const nodes = cluster.nodeNames.length;
  bench.note(`${nodes} nodes on ${cluster.name}`);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: `list-${nodes}` });
  const afterSync = await memoryOf(gatehouse);
  const [identity, gzip] = [await fetchList(gatehouse, 'identity'), await fetchSettledGzip(gatehouse)];
  const bare = await startBare(bench.children, { identity: identity.content, gzip: gzip.content });
  const cells = await compare([gatehouse, bare, ...peers], bench.extent, bench);
  await bare.stop();
  const afterLoad = await memoryOf(gatehouse);
  const visible = await measureVisible(bench, cluster, gatehouse);
  await gatehouse.stop();
  const memory = { afterSync: afterSync.now, afterLoad: afterLoad.now, peak: afterLoad.peak };
  return { cluster: cluster.name, nodes, cells, memory, visible };
}

function measureVisible(bench: Bench, cluster: BenchCluster, gatehouse: Gatehouse): Promise<VisibleReport> {
  bench.note(`label patch to sight in the list, ${VISIBLE_TRIES} tries`);
  return bench.generator.visible({
    cluster: cluster.target,
    gatehouse: gatehouse.target,
    listPath: gatehouse.listPath,
    nodes: cluster.nodeNames,
    tries: VISIBLE_TRIES,
    pauseMs: VISIBLE_PAUSE_MS,
    timeoutMs: VISIBLE_TIMEOUT_MS,
  });
}
