import { listPlan } from './compare.ts';
import type { LoadReport } from './load/load.ts';
import type { Bench } from './measure.ts';
import { type Pace, startChurn } from './paced-changes.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { loopDelayMs } from './peers/loop-delay.ts';
import { CODINGS, type Coding } from './peers/peer.ts';
import { type Simulation, startSimulated } from './peers/simulated.ts';

/** The list under load while nodes change at a pace. */
export interface ChurnCell {
  readonly coding: Coding;
  readonly perSecond: number;
  /** What the pace came to. */
  readonly changesPerSecond: number;
  readonly load: LoadReport;
  /** 99th percentile of the server's event loop, meanwhile. */
  readonly loopDelayMs: number;
}

export interface ChurnResults {
  readonly nodes: number;
  readonly cells: readonly ChurnCell[];
}

const NODES = 1_000;
const PACES = [0, 100, 1_000];

export async function measureChurn(bench: Bench): Promise<ChurnResults> {
  const cluster = await startSimulated(NODES);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'churn' });
  for (const coding of CODINGS) await bench.generator.load(listPlan(gatehouse, coding, bench.extent.seconds));
  const cells: ChurnCell[] = [];
  for (const coding of CODINGS)
    for (const perSecond of PACES) cells.push(await measureCell({ ...bench, cluster, gatehouse }, coding, perSecond));
  await gatehouse.stop();
  await cluster.stop();
  return { nodes: NODES, cells };
}

interface ChurnBench extends Bench {
  readonly cluster: Simulation;
  readonly gatehouse: Gatehouse;
}

async function measureCell(bench: ChurnBench, coding: Coding, perSecond: number): Promise<ChurnCell> {
  const { cluster, gatehouse, generator, extent, note } = bench;
  note(`list of ${NODES} nodes, ${coding}, ${perSecond} node updates a second`);
  const pace: Pace = { kind: 'nodes', perSecond };
  const churn = startChurn(cluster.cluster.objects, pace);
  await loopDelayMs(gatehouse); // forgets what was before
  const load = await generator.load(listPlan(gatehouse, coding, extent.seconds));
  const delay = await loopDelayMs(gatehouse);
  const { changes, seconds } = await churn.stop();
  return { coding, perSecond, changesPerSecond: changes / seconds, load, loopDelayMs: delay };
}
