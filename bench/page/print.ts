import type { OpenPagesReport } from '../load/open-pages.ts';
import { medianBy } from '../statistics.ts';
import { count, megabytes, number, percent, table, verdict } from '../table.ts';
import type { OpenPagesResults } from './open-pages.ts';
import type { PageResults, TableResults } from './page.ts';
import type { PageSizes } from './sizes.ts';

/** Targets, with a processor that is four times slower than the machine's. */
const FIRST_ROWS_MS = 1_000;
const LONGEST_TASK_MS = 100;
const FRAMES_PER_SECOND = 55;
const HEAP_BYTES = 60e6;
/** Frames alone prove nothing: Chromium would move an empty table just as smoothly. */
const SHARE_MISSING = 0.02;

type Row = readonly [name: string, measured: string, target: string, verdict: string];

const told = (name: string, measured: string): Row => [name, measured, '', ''];
const most = (name: string, value: number, limit: number, unit: string): Row => [
  name,
  `${number(value)} ${unit}`,
  `≤ ${number(limit)} ${unit}`,
  verdict(value <= limit),
];
const least = (name: string, value: number, limit: number): Row => [
  name,
  number(value),
  `≥ ${limit}`,
  verdict(value >= limit),
];

const mostOf = <Item>(items: readonly Item[], of: (item: Item) => number): number => Math.max(...items.map(of));

/** The page as text: a table for each of its tables with the targets, and one of the server's cost. */
export const printPage = ({ sizes, tables, open, load: [first, last] }: PageResults): string =>
  [
    `The page in Chromium without a window, its main thread slowed four times; ${count(sizes.changes)} nodes and ${count(sizes.changes)} pods change each second.`,
    `Load averages ${number(first)} at the start, ${number(last)} at the end: frames and times depend on what else the machine does, processor time less.`,
    '',
    ...tables.map((one) => tableOf(one, sizes)),
    openTable(open),
  ].join('\n');

function tableOf({ name, rounds, stay }: TableResults, { nodes, pods, minutes }: PageSizes): string {
  const loads = (['signedIn', 'cold', 'warm'] as const).map((how) => ({
    firstRows: medianBy(rounds, (round) => round[how].firstRowsMs),
    files: medianBy(rounds, (round) => round[how].fileBytes),
    data: medianBy(rounds, (round) => round[how].dataBytes),
    task: mostOf(rounds, (round) => round[how].longest.own.ms),
    processor: mostOf(rounds, (round) => round[how].longest.own.processorMs),
    opening: mostOf(rounds, (round) => round[how].longest.opening.ms),
  }));
  const [signedIn, cold, warm] = loads as [(typeof loads)[0], (typeof loads)[0], (typeof loads)[0]];
  const bytes = ({ files, data }: typeof cold): string => `${count(files)} B, ${count(data)} B`;
  const { still, scrolled, wheel, longest, longestMs, heapBefore, heapAfter } = stay;
  return table(
    `${count(name === 'nodes' ? nodes : pods)} ${name}`,
    ['', 'measured', 'target', ''],
    [
      most('first rows after the sign-in', signedIn.firstRows, FIRST_ROWS_MS, 'ms'),
      told('first load to first rows, cold; warm', `${number(cold.firstRows)}; ${number(warm.firstRows)} ms`),
      told('… sent when cold: files, data', bytes(cold)),
      told('… sent when warm', bytes(warm)),
      most(
        'longest task of all loads',
        mostOf(loads, ({ task }) => task),
        LONGEST_TASK_MS,
        'ms',
      ),
      told('… after the sign-in, cold, warm', loads.map(({ task }) => `${number(task)} ms`).join(', ')),
      told('… in processor time', `${number(mostOf(loads, ({ processor }) => processor))} ms`),
      told('… in which Chromium opens the document', `${number(mostOf(loads, ({ opening }) => opening))} ms`),
      most('longest task while it is open', longestMs, LONGEST_TASK_MS, 'ms'),
      most('longest task while it is scrolled', longest.ms, LONGEST_TASK_MS, 'ms'),
      told('… in processor time', `${number(longest.processorMs)} ms`),
      least('frames a second while a wheel turns', wheel.perSecond, FRAMES_PER_SECOND),
      told('… the longest; of the main thread', `${number(wheel.longestMs)} ms; ${number(wheel.mainPerSecond)}`),
      [
        '… before which a row was missing',
        percent(wheel.shareMissing),
        `≤ ${percent(SHARE_MISSING)}`,
        verdict(wheel.shareMissing <= SHARE_MISSING),
      ],
      told('… most rows at once', String(wheel.mostMissing)),
      told('frames a second while a script scrolls', number(scrolled.perSecond)),
      told('… the longest; while nobody scrolls', `${number(scrolled.longestMs)} ms; ${number(still.perSecond)}`),
      told('… with a row that has not come', percent(scrolled.shareWaiting)),
      told('heap at the beginning', megabytes(heapBefore)),
      most(`… after ${number(minutes / 2)} min and a scroll`, heapAfter / 1e6, HEAP_BYTES / 1e6, 'MB'),
    ],
  );
}

function openTable({ without, open }: OpenPagesResults): string {
  const both = (name: string, of: (report: OpenPagesReport) => string): string[] => [name, of(without), of(open)];
  const reads = ({ statuses }: OpenPagesReport): number =>
    Object.values(statuses).reduce((sum, times) => sum + times, 0);
  const extra = (open.serverShare ?? Number.NaN) - (without.serverShare ?? Number.NaN);
  const grown = (open.residentBytes ?? Number.NaN) - (without.residentBytes ?? Number.NaN);
  return [
    table(
      'What open pages cost the server at most: each follows a watch, reads 50 rows each second, as if something on its screen changed all the time, and renews its session each minute',
      ['', 'without pages', `${count(open.pages)} pages`],
      [
        both('its CPU', ({ serverShare }) => percent(serverShare)),
        both('resident', ({ residentBytes }) => megabytes(residentBytes)),
        both('loop delay, p99 ms', ({ loopDelayMs }) => number(loopDelayMs)),
        both('reads a second', (report) => number(reads(report) / report.seconds)),
        both('… of them 304', (report) => percent((report.statuses['304'] ?? 0) / reads(report))),
        both('… p50, p99 ms', ({ p50Ms, p99Ms }) => `${number(p50Ms)}, ${number(p99Ms)}`),
        both('… sent a second', ({ readBytes, seconds }) => megabytes(readBytes / seconds)),
        both('watches: sent a second', ({ watchBytes, seconds }) => megabytes(watchBytes / seconds)),
        both('sessions renewed', ({ renewals }) => count(renewals)),
        both('the reader’s CPU', ({ readerShare }) => percent(readerShare)),
      ],
    ),
    `A page costs ${number((extra / open.pages) * 1_000)} ms of processor time a second, and ${number(grown / open.pages / 1e3)} kB.`,
    '',
  ].join('\n');
}
