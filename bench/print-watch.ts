import type { ServerMoment } from './load/watchers.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, percent, table } from './table.ts';
import { WATCH_REACH_MS } from './targets.ts';
import type { WatchResults } from './watch.ts';

/** The results of watchers as text. */
export function printWatch({ nodes, watchers, report }: WatchResults): string {
  const { residentBefore, openMs, idle, busy, firstMs, lastMs, lost } = report;
  const slowest = Math.max(...lastMs);
  const each =
    idle.residentBytes === undefined || residentBefore === undefined ? undefined : idle.residentBytes - residentBefore;
  const processorMs =
    busy.serverShare === undefined ? undefined : (busy.serverShare * busy.seconds * 1000) / lastMs.length;
  const moment = (name: string, { residentBytes, loopDelay, serverShare }: ServerMoment): string[] => [
    name,
    megabytes(residentBytes),
    number(loopDelay.p99Ms),
    number(loopDelay.maxMs),
    percent(serverShare),
  ];
  return [
    table(
      `${count(watchers)} watchers of ${count(nodes)} nodes: the server`,
      ['', 'resident', 'loop delay p99 ms', 'max ms', 'its CPU'],
      [
        ['before', megabytes(residentBefore), '', '', ''],
        moment('idle', idle),
        moment(`${lastMs.length} changes`, busy),
      ],
    ),
    table(
      "From the cluster's answer to a label patch, to its sight",
      ['', 'median ms', 'slowest ms', 'target', ''],
      [
        ['by the first watcher', number(median(firstMs)), number(Math.max(...firstMs)), '–', ''],
        [
          'by all',
          number(median(lastMs)),
          number(slowest),
          `≤ ${WATCH_REACH_MS}`,
          slowest <= WATCH_REACH_MS ? 'met' : 'MISSED',
        ],
      ],
    ),
    `A change took ${number(processorMs)} ms of the server's CPU. Where that is far less than the time by all, the machine was busy with something else.`,
    `All had begun after ${number(openMs / 1000)} s; ${number(each === undefined ? undefined : each / watchers / 1000)} kB for each; ${lost} were cut off.`,
    '',
  ].join('\n');
}
