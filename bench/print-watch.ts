import type { ServerMoment } from './load/server-moment.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';
import { GENERATOR_SHARE, WATCH_REACH_MS } from './targets.ts';
import type { WatchResults } from './watch.ts';

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

/** The pages that are asked for meanwhile, and the looks at the streams, go on without a change as well. */
const aboveIdle = (busy: number | undefined, idle: number | undefined): number | undefined =>
  busy === undefined || idle === undefined ? undefined : busy - idle;

/** In milliseconds of processor time. */
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
    ['by all', number(median(lastMs)), number(slowest), `≤ ${WATCH_REACH_MS}`, verdict(slowest <= WATCH_REACH_MS)],
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
