import type { LoadReport } from './load/load.ts';
import { CODINGS } from './peers/peer.ts';
import type { Cell, ListResults, Measured, StartUp } from './results.ts';
import { histogram, median, quantile, ratios } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';
import { GENERATOR_SHARE, leastRatio, SATURATED_SHARE, START_MS, VISIBLE_MS } from './targets.ts';

/** The results of lists as text: tables with their targets. */
export function printLists(lists: ListResults): string {
  const { measured, startUps, withoutReal } = lists;
  return [
    'Lists: requests on 8 connections',
    '',
    ...measured.flatMap((one) => [listTable(one), ratioTable(one)]),
    memoryTable(measured),
    startTable(startUps),
    visibleTable(measured),
    generatorVerdict(lists),
    ...(withoutReal === undefined ? [] : ['', `No real kube-apiserver: ${withoutReal}`]),
    '',
  ].join('\n');
}

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

/** Time of processors waits for nobody: where others keep the machine busy, that ratio is the steadier one. */
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

/** Whether Gatehouse's answers changed after the bare server was given them. */
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

/** Upper ends of the classes that delays are counted in, in milliseconds. */
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

/** How it is known that the servers were measured, not the generator. */
function generatorVerdict({ ceiling, measured }: ListResults): string {
  const reports = measured.flatMap((one) => one.cells.flatMap((cell) => cell.rounds));
  const highest = Math.max(...reports.map((report) => report.generatorShare));
  const reach = `On an answer of 2 bytes the generator reaches ${number(ceiling.requestsPerSecond)} requests/s with ${percent(ceiling.generatorShare)} of a core.`;
  const starved = Math.min(...reports.map((report) => report.serverShare ?? 1));
  const busy = `The servers of one thread got as little as ${percent(starved)} of a core: the machine was busy with something else. Trust the ratios by CPU time.`;
  const verdict = [reach, ...limitVerdict(highest), ...(starved < SATURATED_SHARE ? [busy] : [])];
  return verdict.join('\n');
}

function limitVerdict(highest: number): string[] {
  const limit = percent(GENERATOR_SHARE);
  return highest < GENERATOR_SHARE
    ? [`In the lists above it used at most ${percent(highest)} of a core, below ${limit}: it was not the limit.`]
    : [`In the lists above it used up to ${percent(highest)} of a core: those figures may be the generator's.`];
}
