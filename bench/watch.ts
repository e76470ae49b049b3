import type { Bench } from './bench.ts';
import { GENERATOR_SHARE } from './load/generator.ts';
import type { ServerMoment, WatcherReport } from './load/watchers.ts';
import { startSimulated } from './peers/clusters.ts';
import { startGatehouse } from './peers/gatehouse.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';

export interface WatchResults {
  readonly nodes: number;
  readonly watchers: number;
  readonly slow: number;
  /** The results of each form, each with a server of its own. The first one is the default form. */
  readonly forms: readonly { readonly name: string; readonly report: WatcherReport }[];
}

const METADATA = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
const GZIP = { 'accept-encoding': 'gzip' };
const FORMS = [
  { name: 'whole nodes', headers: {}, coding: 'identity' },
  { name: 'metadata alone', headers: METADATA, coding: 'identity' },
  { name: 'whole nodes, gzip', headers: GZIP, coding: 'gzip' },
  { name: 'metadata alone, gzip', headers: { ...METADATA, ...GZIP }, coding: 'gzip' },
] as const;

const IDLE_MS = 20_000;
/** The number of watchers that do not read, and that are cut off within the idle time. */
const SLOW = 10;
const STALL = '10s';
const TRIES = 20;
/** The pause between changes. The server collects changes for a shorter time, so each change is sent by itself. */
const PAUSE_MS = 500;
const TIMEOUT_MS = 30_000;
/** File descriptors for the bench itself. */
const SPARE = 100;

/** Target for the time from a change in the cluster until every watcher has it. */
const REACH_MS = 1_000;

/**
 * Opens watchers and then makes changes that reach them, in each form of the stream. Runs on the largest of the requested clusters,
 * because the initial state for a watcher that does not read must be larger than the kernel's buffers.
 */
export async function measureWatch(bench: Bench): Promise<WatchResults> {
  const { watchers, nodes: sizes } = bench.options;
  const nodes = sizes.at(-1) ?? 1;
  const cluster = await startSimulated(nodes);
  const forms: { name: string; report: WatcherReport }[] = [];
  for (const { name, headers, coding } of FORMS) {
    bench.note(`${watchers} watchers of ${nodes} nodes, ${name}: idle, then ${TRIES} changes`);
    const gatehouse = await startGatehouse(bench.children, {
      ...cluster,
      name: 'watch',
      settings: settingsFor(watchers),
    });
    const report = await bench.generator.watchers({
      cluster: cluster.target,
      gatehouse: gatehouse.target,
      listPath: gatehouse.listPath,
      metricsUrl: gatehouse.metricsUrl,
      serverPid: gatehouse.pid,
      nodes: cluster.nodeNames,
      headers,
      coding,
      watchers,
      slow: SLOW,
      idleMs: IDLE_MS,
      tries: TRIES,
      pauseMs: PAUSE_MS,
      timeoutMs: TIMEOUT_MS,
    });
    forms.push({ name, report });
    await gatehouse.stop();
  }
  await cluster.stop();
  return { nodes, watchers, slow: SLOW, forms };
}

function settingsFor(watchers: number) {
  const most = watchers + SPARE;
  const limits = {
    sendTimeout: STALL,
    maxWatches: most,
    maxWatchesPerUser: most,
    maxConnections: most,
    maxConnectionsPerAddress: most,
  };
  return { limits };
}

/** One form of the stream. */
type Measured = Pick<WatchResults, 'nodes' | 'watchers' | 'slow'> & WatchResults['forms'][number];

/** The results of watchers as text. */
export function printWatch({ forms, ...setting }: WatchResults): string {
  const measured = forms.map((form) => ({ ...setting, ...form }));
  const each = measured.flatMap((one) => [serverTable(one), reachTable(one), ...remarks(one), '']);
  return [...each, formsTable(measured)].join('\n');
}

function formsTable(measured: readonly Measured[]): string {
  const rows = measured.map(({ name, watchers, report: { bytesAChange, busy, lastMs, idle } }) => [
    name,
    number(bytesAChange / watchers),
    megabytes(bytesAChange),
    perChange(busy.serverShare, { busy, lastMs }),
    perChange(aboveIdle(busy.serverShare, idle.serverShare), { busy, lastMs }),
    number(median(lastMs)),
    number(Math.max(...lastMs)),
  ]);
  return table(
    'A change, by the form of the stream',
    ['', 'bytes to one', 'to all', 'CPU ms of the server', 'above idle', 'ms until all have it', 'slowest ms'],
    rows,
  );
}

/** The additional use because of changes. Probes and the checks of streams cost something without changes, too. */
const aboveIdle = (busy: number | undefined, idle: number | undefined): number | undefined =>
  busy === undefined || idle === undefined ? undefined : busy - idle;

/** The cost of a change, in milliseconds of processor time. */
const perChange = (share: number | undefined, { busy, lastMs }: Pick<Measured['report'], 'busy' | 'lastMs'>): string =>
  number(share === undefined ? undefined : (share * busy.seconds * 1000) / lastMs.length);

function serverTable({ name, nodes, watchers, report }: Measured): string {
  const { residentBefore, idle, busy, lastMs } = report;
  const moment = (name: string, { residentBytes, loopDelay, probes, serverShare }: ServerMoment): string[] => [
    name,
    megabytes(residentBytes),
    number(loopDelay.p99Ms),
    number(loopDelay.maxMs),
    number(probes.p50Ms),
    number(probes.p99Ms),
    number(probes.maxMs),
    percent(serverShare),
  ];
  return table(
    `${count(watchers)} watchers of ${count(nodes)} nodes, ${name}: the server`,
    ['', 'resident', 'loop delay p99 ms', 'max ms', 'page of one p50 ms', 'p99 ms', 'max ms', 'its CPU'],
    [
      ['before', megabytes(residentBefore), '', '', '', '', '', ''],
      moment('idle', idle),
      moment(`${lastMs.length} changes`, busy),
    ],
  );
}

function reachTable({ report: { firstMs, lastMs, busy } }: Measured): string {
  const slowest = Math.max(...lastMs);
  const { told } = busy;
  const rows = [
    ['by the first watcher', number(median(firstMs)), number(Math.max(...firstMs)), '–', ''],
    ['by all', number(median(lastMs)), number(slowest), `≤ ${REACH_MS}`, verdict(slowest <= REACH_MS)],
  ];
  const server = told && [
    'of this the server wrote for',
    `${number(told.meanMs)} (mean)`,
    `≤ ${told.slowestMs}`,
    '–',
    '',
  ];
  return table(
    "From the cluster's answer to a label patch, to its sight",
    ['', 'median ms', 'slowest ms', 'target', ''],
    server ? [...rows, server] : rows,
  );
}

function remarks({ watchers, slow, report }: Measured): string[] {
  const { residentBefore, openMs, idle, busy, lost, cutOff } = report;
  const grown =
    idle.residentBytes === undefined || residentBefore === undefined ? undefined : idle.residentBytes - residentBefore;
  const isLimit = busy.readerShare >= GENERATOR_SHARE ? ' (the figures are the reader’s own)' : '';
  return [
    `A change took ${perChange(busy.serverShare, report)} ms of the server's CPU and ${perChange(busy.readerShare, report)} ms of the reader's${isLimit}. Where that is far less than the time by all, the machine was busy with something else.`,
    `All had begun after ${number(openMs / 1000)} s; ${number(grown === undefined ? undefined : grown / watchers / 1000)} kB for each; ${lost} were cut off, of ${slow} others that read nothing ${cutOff}.`,
  ];
}
