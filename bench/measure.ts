import type { Children } from './children.ts';
import { compare, type Extent, listPlan } from './compare.ts';
import type { Generator } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import type { ProbePlan } from './load/probes.ts';
import type { VisiblePlan, VisibleReport } from './load/visible.ts';
import type { Note } from './note.ts';
import { startBare } from './peers/bare.ts';
import type { BenchCluster } from './peers/bench-cluster.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { memoryOf, type Resident } from './peers/memory.ts';
import { startNginx } from './peers/nginx.ts';
import { type Coding, fetchList, fetchSettledGzip, listHeaders, type Peer } from './peers/peer.ts';
import type { Measured, MemoryUse, StartUp } from './results.ts';

/** What every measurement needs. */
export interface Bench {
  readonly children: Children;
  readonly generator: Generator;
  readonly note: Note;
  readonly extent: Extent;
  /** The program, where it is installed. */
  readonly nginx: string | undefined;
}

/** Ten seconds of a hundred changes each, as a large cluster makes them. */
const VISIBLE_TRIES = 1_000;
const VISIBLE_EVERY_MS = 10;
const VISIBLE_TIMEOUT_MS = 5_000;
const START_SIZE = 10;
const PROBE_MS = 100;

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

/** Gatehouse on this cluster, beside servers that send the same bytes and the peers given. */
export async function measureOn(bench: Bench, cluster: BenchCluster, peers: readonly Peer[]): Promise<Measured> {
  const nodes = cluster.nodeNames.length;
  bench.note(`${nodes} nodes on ${cluster.name}`);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: `list-${nodes}` });
  const afterSync = await memoryOf(gatehouse);
  const references = await startReferences(bench, gatehouse);
  const cells = await compare([gatehouse, ...references, ...peers], bench.extent, bench);
  for (const reference of references) await reference.stop();
  const afterLoad = await memoryOf(gatehouse);
  const visible = await measureVisible(bench, cluster, gatehouse);
  await gatehouse.stop();
  const memory = memoryUse(afterSync, afterLoad);
  return { cluster: cluster.name, nodes, cells, memory, visible };
}

/** Those that send Gatehouse's bytes and know nothing of nodes: a bare server, and nginx where it is installed. */
async function startReferences({ children, nginx }: Bench, gatehouse: Gatehouse): Promise<Peer[]> {
  const [identity, gzip] = [await fetchList(gatehouse, 'identity'), await fetchSettledGzip(gatehouse)];
  const content = { identity: identity.content, gzip: gzip.content };
  const bare = await startBare(children, content);
  return nginx === undefined ? [bare] : [bare, await startNginx(children, nginx, content)];
}

/** Out of what was seen at two moments. */
export const memoryUse = (afterSync: Resident, afterLoad: Resident): MemoryUse => ({
  afterSync: afterSync.now,
  syncPeak: afterSync.peak,
  afterLoad: afterLoad.now,
  peak: afterLoad.peak,
});

/** A hundred changes a second, each looked for. */
export const visiblePlan = (cluster: BenchCluster, gatehouse: Gatehouse, tries = VISIBLE_TRIES): VisiblePlan => ({
  cluster: cluster.target,
  gatehouse: gatehouse.target,
  listPath: gatehouse.listPath,
  nodes: cluster.nodeNames,
  tries,
  everyMs: VISIBLE_EVERY_MS,
  timeoutMs: VISIBLE_TIMEOUT_MS,
});

/** A page of ten, ten times a second. */
export const probePlan = ({ target, listPath }: Gatehouse, coding: Coding, measureMs: number): ProbePlan => ({
  target,
  path: `${listPath}?limit=10`,
  headers: listHeaders(coding),
  everyMs: PROBE_MS,
  measureMs,
});

function measureVisible(bench: Bench, cluster: BenchCluster, gatehouse: Gatehouse): Promise<VisibleReport> {
  bench.note(`label patch to sight in the list, ${VISIBLE_TRIES} tries`);
  return bench.generator.visible(visiblePlan(cluster, gatehouse));
}
