import type { LoadReport } from './load/load.ts';
import { CODINGS } from './peers/peer.ts';
import { printSignIn } from './print-sign-in.ts';
import type { Cell, ListResults, Measured, Results } from './results.ts';
import { median, quantile, ratios } from './statistics.ts';
import { count, megabytes, number, percent, table } from './table.ts';
import { GENERATOR_SHARE, leastRatio, SATURATED_SHARE, VISIBLE_P50_MS } from './targets.ts';

/** All results as text: tables, each followed by what it says about a target. */
export function printResults({ machine, lists, signIn }: Results): string {
  return [
    `${machine.processors} processors, Node ${machine.node}, load average ${number(machine.loadAverage)} at the start; medians over rounds`,
    '',
    ...(lists ? [printLists(lists)] : []),
    ...(signIn ? [printSignIn(signIn)] : []),
  ].join('\n');
}

function printLists(lists: ListResults): string {
  const { measured, startUps, withoutReal } = lists;
  return [
    'Lists: requests on 8 connections',
    '',
    ...measured.flatMap((one) => [listTable(one), ratioTable(one)]),
    memoryTable(measured),
    table(
      'Start to ready, from sources, on the simulated API server',
      ['nodes', 'ms', 'slowest'],
      startUps.map(({ nodes, startToReadyMs: ms }) => [count(nodes), number(median(ms)), number(Math.max(...ms))]),
    ),
    visibleTable(measured),
    generatorVerdict(lists),
    ...(withoutReal === undefined ? [] : ['', `No real kube-apiserver: ${withoutReal}`]),
    '',
  ].join('\n');
}

const medianOf = (cell: Cell, value: (report: LoadReport) => number | undefined): number =>
  median(cell.rounds.map((report) => value(report) ?? Number.NaN));

const processorMicros = ({ serverShare, requestsPerSecond }: LoadReport): number | undefined =>
  serverShare === undefined ? undefined : (serverShare / requestsPerSecond) * 1e6;

function listTable({ cluster, nodes, cells }: Measured): string {
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
function ratioTable({ nodes, cells }: Measured): string {
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
        ...verdict(median(perRound), least),
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

const verdict = (ratio: number, least: number | undefined): string[] =>
  least === undefined ? ['–', ''] : [`≥ ${least}`, ratio >= least ? 'met' : 'MISSED'];

function memoryTable(measured: readonly Measured[]): string {
  const rows = measured.map(({ cluster, nodes, memory }) => [
    `${count(nodes)} nodes, ${cluster}`,
    megabytes(memory.afterSync),
    megabytes(memory.afterLoad),
    megabytes(memory.peak),
  ]);
  return table('Resident memory of Gatehouse', ['', 'after sync', 'after load', 'peak'], rows);
}

function visibleTable(measured: readonly Measured[]): string {
  const { ideal, required } = VISIBLE_P50_MS;
  const rows = measured.map(({ cluster, nodes, visible: { latenciesMs, polls } }) => {
    const p50 = median(latenciesMs);
    const judged = p50 <= ideal ? `met, ideal ≤ ${ideal} too` : p50 <= required ? 'met' : 'MISSED';
    const figures = [p50, quantile(latenciesMs, 0.99), Math.max(...latenciesMs)].map(number);
    return [`${count(nodes)} nodes, ${cluster}`, ...figures, count(polls), `≤ ${required}`, judged];
  });
  const head = ['', 'p50 ms', 'p99 ms', 'max ms', 'polls', 'target p50', ''];
  return table("From the cluster's answer to a label patch, to its sight in the list: 100 tries", head, rows);
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
