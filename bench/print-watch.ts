import type { ServerMoment } from './load/server-moment.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';
import { GENERATOR_SHARE, WATCH_REACH_MS } from './targets.ts';
import type { WatchResults } from './watch.ts';

/** The results of watchers as text. */
export const printWatch = (results: WatchResults): string =>
  [serverTable(results), reachTable(results), ...remarks(results), ''].join('\n');

function serverTable({ nodes, watchers, report }: WatchResults): string {
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
    `${count(watchers)} watchers of ${count(nodes)} nodes: the server`,
    ['', 'resident', 'loop delay p99 ms', 'max ms', 'page of one p50 ms', 'p99 ms', 'max ms', 'its CPU'],
    [
      ['before', megabytes(residentBefore), '', '', '', '', '', ''],
      moment('idle', idle),
      moment(`${lastMs.length} changes`, busy),
    ],
  );
}

function reachTable({ report: { firstMs, lastMs, busy } }: WatchResults): string {
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

function remarks({ watchers, slow, report }: WatchResults): string[] {
  const { residentBefore, openMs, idle, busy, lastMs, lost, cutOff } = report;
  const grown =
    idle.residentBytes === undefined || residentBefore === undefined ? undefined : idle.residentBytes - residentBefore;
  const perChange = (share: number | undefined): string =>
    number(share === undefined ? undefined : (share * busy.seconds * 1000) / lastMs.length);
  const isLimit = busy.readerShare >= GENERATOR_SHARE ? ' (the figures are the reader’s own)' : '';
  return [
    `A change took ${perChange(busy.serverShare)} ms of the server's CPU and ${perChange(busy.readerShare)} ms of the reader's${isLimit}. Where that is far less than the time by all, the machine was busy with something else.`,
    `All had begun after ${number(openMs / 1000)} s; ${number(grown === undefined ? undefined : grown / watchers / 1000)} kB for each; ${lost} were cut off, of ${slow} others that read nothing ${cutOff}.`,
  ];
}
