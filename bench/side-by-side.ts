import { type Bench, listPlan, visiblePlan } from './bench.ts';
import type { LoadReport } from './load/load.ts';
import { memoryOf } from './load/usage.ts';
import type { VisibleReport } from './load/visible.ts';
import { startBare } from './peers/bare.ts';
import { type BenchCluster, startSimulated } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { startNginx } from './peers/nginx.ts';
import { CODINGS, type Coding, fetchList, fetchSettledGzip, type Peer } from './peers/peer.ts';
import { type MemoryUse, memoryUse } from './size.ts';
import { histogram, median, quantile, ratios } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';

/**
 * Lists of one size on one cluster, from Gatehouse and from other servers, and how soon a change is in Gatehouse's list.
 */
export interface Measured {
  readonly cluster: string;
  readonly nodes: number;
  readonly cells: readonly Cell[];
  readonly memory: MemoryUse;
  readonly visible: VisibleReport;
}

/** One server and coding, measured once a round. */
export interface Cell {
  readonly peer: string;
  readonly coding: Coding;
  readonly rounds: readonly LoadReport[];
}

/** Ten seconds of a hundred changes each. */
const VISIBLE_TRIES = 1_000;

/** The time from a change in the cluster until it is in the list, at 100 changes a second. */
const VISIBLE_MS = { p50: 5, p99: 20 } as const;

/** The least ratio of requests per second, Gatehouse to the other server; undefined if there is no target. */
export function leastRatio(reference: string, coding: Coding, nodes: number): number | undefined {
  if (reference === 'kube-apiserver') return coding === 'identity' ? 10 : 200;
  if (reference !== 'bare node:http') return undefined;
  // Most of the cost of a short answer is the request: token, decision and log line. The bare server has none of these.
  if (nodes < 100) return 0.5;
  return coding === 'gzip' && nodes < 1000 ? 0.5 : 0.8;
}

/** Measures on a simulated cluster of each of these sizes. */
export async function measureOnSimulated(bench: Bench, sizes: readonly number[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const nodes of sizes) {
    const cluster = await startSimulated(nodes);
    measured.push(await measureOn(bench, cluster, []));
    await cluster.stop();
  }
  return measured;
}

/** Measures Gatehouse on this cluster, servers that send the same bytes, and the given peers. */
export async function measureOn(bench: Bench, cluster: BenchCluster, peers: readonly Peer[]): Promise<Measured> {
  const nodes = cluster.nodeNames.length;
  bench.note(`${nodes} nodes on ${cluster.name}`);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: `list-${nodes}` });
  const afterSync = await memoryOf(gatehouse);
  const references = await startReferences(bench, gatehouse);
  const cells = await compare(bench, [gatehouse, ...references, ...peers]);
  for (const reference of references) await reference.stop();
  const afterLoad = await memoryOf(gatehouse);
  const visible = await measureVisible(bench, cluster, gatehouse);
  await gatehouse.stop();
  const memory = memoryUse(afterSync, afterLoad);
  return { cluster: cluster.name, nodes, cells, memory, visible };
}

/** Starts servers that send Gatehouse's bytes as files: a bare server, and nginx if it is installed. */
async function startReferences({ children, nginx }: Bench, gatehouse: Gatehouse): Promise<Peer[]> {
  const [identity, gzip] = [await fetchList(gatehouse, 'identity'), await fetchSettledGzip(gatehouse)];
  const content = { identity: identity.content, gzip: gzip.content };
  const bare = await startBare(children, content);
  return nginx === undefined ? [bare] : [bare, await startNginx(children, nginx, content)];
}

function measureVisible(bench: Bench, cluster: BenchCluster, gatehouse: Gatehouse): Promise<VisibleReport> {
  bench.note(`label patch to sight in the list, ${VISIBLE_TRIES} tries`);
  return bench.generator.visible(visiblePlan(cluster, gatehouse, VISIBLE_TRIES));
}

/**
 * The warm-up before the first round, with gzip answers. A list of 12 MB is requested only a hundred times a second, and at that rate a
 * new Node process runs half-compiled code for minutes. The small gzip answers warm both servers up in seconds.
 */
const HEAT_SECONDS = 3;

/** Measures the peers alternately, A B A B, so that other work of the machine affects all of them alike. */
async function compare(
  { generator, note, options: { seconds, rounds } }: Bench,
  peers: readonly Peer[],
): Promise<Cell[]> {
  const found = new Map<string, LoadReport[]>();
  for (const peer of peers) await generator.load(listPlan(peer, 'gzip', HEAT_SECONDS));
  for (let round = 1; round <= rounds; round++)
    for (const coding of CODINGS)
      for (const peer of peers) {
        const report = await generator.load(listPlan(peer, coding, seconds));
        note(`round ${round}, ${coding}, ${peer.name}: ${number(report.requestsPerSecond)} requests/s`);
        const key = cellKey(peer.name, coding);
        found.set(key, [...(found.get(key) ?? []), report]);
      }
  return CODINGS.flatMap((coding) =>
    peers.map((peer) => ({ peer: peer.name, coding, rounds: found.get(cellKey(peer.name, coding)) ?? [] })),
  );
}

const cellKey = (peer: string, coding: Coding): string => `${peer} ${coding}`;

export const medianOf = (cell: Cell, value: (report: LoadReport) => number | undefined): number =>
  median(cell.rounds.map((report) => value(report) ?? Number.NaN));

const processorMicros = ({ serverShare, requestsPerSecond }: LoadReport): number | undefined =>
  serverShare === undefined ? undefined : (serverShare / requestsPerSecond) * 1e6;

export function listTable({ cluster, nodes, cells }: Measured): string {
  const head = [
    'server, coding',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'answer',
    'requests',
    'its CPU',
    'CPU µs/request',
    'generator CPU',
  ];
  const rows = cells.map((cell) => [
    `${cell.peer}, ${cell.coding}`,
    number(medianOf(cell, (report) => report.requestsPerSecond)),
    number(medianOf(cell, (report) => report.p50Ms)),
    number(medianOf(cell, (report) => report.p99Ms)),
    megabytes(medianOf(cell, (report) => report.bytesPerAnswer)),
    count(cell.rounds.reduce((sum, report) => sum + report.requests, 0)),
    percent(medianOf(cell, (report) => report.serverShare)),
    number(medianOf(cell, processorMicros)),
    percent(medianOf(cell, (report) => report.generatorShare)),
  ]);
  return table(`List of ${count(nodes)} nodes, mirrored from ${cluster}`, head, rows);
}

/** The ratios by requests and by processor time. Processor time does not grow with other work on the machine, so its ratio is steadier. */
export function ratioTable({ nodes, cells }: Measured): string {
  const rates = (cell: Cell): number[] => cell.rounds.map((report) => report.requestsPerSecond);
  const rows = cells
    .filter((cell) => cell.peer !== 'Gatehouse')
    .map((cell) => {
      const own = cells.find((one) => one.peer === 'Gatehouse' && one.coding === cell.coding);
      const perRound = ratios(own ? rates(own) : [], rates(cell));
      const least = leastRatio(cell.peer, cell.coding, nodes);
      return [
        `Gatehouse / ${cell.peer}, ${cell.coding}`,
        number(median(perRound)),
        perRound.map(number).join(' '),
        number(own && medianOf(cell, processorMicros) / medianOf(own, processorMicros)),
        ...atLeast(median(perRound), least),
      ];
    });
  const unequal = isUnequal(cells)
    ? ['The bare server did not send the bytes of Gatehouse: its ratios are void.', '']
    : [];
  return [
    table('Requests per second, ratio', ['', 'median', 'per round', 'by CPU time', 'target', ''], rows),
    ...unequal,
  ].join('\n');
}

/** Whether Gatehouse's answers have changed since the bare server got their bytes. */
function isUnequal(cells: readonly Cell[]): boolean {
  const bytes = (peer: string, coding: string): number[] =>
    cells
      .filter((cell) => cell.peer === peer && cell.coding === coding)
      .map((cell) => medianOf(cell, (report) => report.bytesPerAnswer));
  return CODINGS.some((coding) => bytes('Gatehouse', coding)[0] !== bytes('bare node:http', coding)[0]);
}

const atLeast = (ratio: number, least: number | undefined): string[] =>
  least === undefined ? ['–', ''] : [`≥ ${least}`, verdict(ratio >= least)];

export function memoryTable(measured: readonly Measured[]): string {
  const rows = measured.map(({ cluster, nodes, memory }) => [
    `${count(nodes)} nodes, ${cluster}`,
    megabytes(memory.afterSync),
    megabytes(memory.syncPeak),
    megabytes(memory.afterLoad),
    megabytes(memory.peak),
  ]);
  return table('Resident memory of Gatehouse', ['', 'after sync', 'peak until then', 'after load', 'peak'], rows);
}

/** Upper bounds of the buckets in which delays are counted, in milliseconds. */
const DELAY_CLASSES = [1, 2, 5, 10, 20, 50];

export function visibleTable(measured: readonly Pick<Measured, 'cluster' | 'nodes' | 'visible'>[]): string {
  const { p50, p99 } = VISIBLE_MS;
  const rows = measured.map(({ cluster, nodes, visible: { latenciesMs, polls, changesPerSecond } }) => {
    const found = { p50: median(latenciesMs), p99: quantile(latenciesMs, 0.99) };
    return [
      `${count(nodes)} nodes, ${cluster}`,
      number(changesPerSecond),
      ...[found.p50, found.p99, Math.max(...latenciesMs)].map(number),
      ...histogram(latenciesMs, DELAY_CLASSES).map(count),
      count(polls),
      `≤ ${p50}, ≤ ${p99}`,
      verdict(found.p50 <= p50 && found.p99 <= p99),
    ];
  });
  const classes = [...DELAY_CLASSES.map((limit) => `≤ ${limit}`), 'more'];
  const head = ['', 'changes/s', 'p50 ms', 'p99 ms', 'max ms', ...classes, 'polls', 'target p50, p99', ''];
  return table(
    "From the cluster's answer to a label patch, to its sight in the list, tries by milliseconds",
    head,
    rows,
  );
}
