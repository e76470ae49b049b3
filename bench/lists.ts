import { type Bench, listPlan } from './bench.ts';
import { GENERATOR_SHARE } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import { startBare } from './peers/bare.ts';
import { makeNodes, startReal, withNodes } from './peers/clusters.ts';
import {
  listTable,
  type Measured,
  measureOn,
  measureOnSimulated,
  memoryTable,
  ratioTable,
  visibleTable,
} from './side-by-side.ts';
import { measureStartUps, type StartUp, startTable } from './size.ts';
import { number, percent } from './table.ts';

/**
 * Lists of Gatehouse, compared with a bare server, nginx and a real API server. The cluster is the simulated one, and then the real
 * one.
 */
export interface ListResults {
  /** The rate that the generator reaches when the answer is nearly empty. */
  readonly ceiling: LoadReport;
  readonly startUps: readonly StartUp[];
  readonly measured: readonly Measured[];
  /** Why there is no real kube-apiserver in the results, in words; undefined when there is. */
  readonly withoutReal: string | undefined;
}

/**
 * A share of one core. If a server with one thread used less, other work on the machine has slowed it down.
 */
const SATURATED_SHARE = 0.85;

export async function measureLists(bench: Bench): Promise<ListResults> {
  const { withoutReal, options } = bench;
  const { nodes } = options;
  const ceiling = await measureCeiling(bench);
  const startUps = await measureStartUps(bench, nodes);
  const simulated = await measureOnSimulated(bench, nodes);
  const real = withoutReal === undefined ? await onReal(bench, nodes) : [];
  return { ceiling, startUps, measured: [...simulated, ...real], withoutReal };
}

/** Measures the rate of the generator when neither bytes nor the work of the server limit it. */
async function measureCeiling({ children, generator, note, options }: Bench): Promise<LoadReport> {
  note('ceiling of the load generator: a bare server with an answer of 2 bytes');
  const tiny = Buffer.from('{}');
  const bare = await startBare(children, { identity: tiny, gzip: tiny });
  const report = await generator.load(listPlan(bare, 'identity', options.seconds));
  await bare.stop();
  return report;
}

/** Uses one control plane for all sizes, and adds nodes from one size to the next. */
async function onReal(bench: Bench, sizes: readonly number[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  bench.note('starting the real kube-apiserver');
  const control = await startReal();
  const nodes = makeNodes(Math.max(...sizes));
  let existing = 0;
  for (const count of sizes) {
    bench.note(`creating ${count - existing} nodes`);
    const cluster = await withNodes(control, nodes.slice(0, count), existing);
    measured.push(await measureOn(bench, cluster, [cluster.peer]));
    existing = count;
  }
  await control.stop();
  return measured;
}

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

/** Says whether the servers were measured and not the generator. */
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
