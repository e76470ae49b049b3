import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from '../dev/cluster/object-store.ts';
import { type Bench, listPlan } from './bench.ts';
import type { LoadReport } from './load/load.ts';
import { loopDelayMs } from './load/metrics.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { CODINGS, type Coding } from './peers/peer.ts';
import { count, number, percent, table } from './table.ts';

/** The list under load, while nodes change. */
interface ChurnCell {
  readonly coding: Coding;
  readonly perSecond: number;
  /** The rate of changes that was reached. */
  readonly changesPerSecond: number;
  readonly load: LoadReport;
  /** The 99th percentile of the delay of the server's event loop meanwhile. */
  readonly loopDelayMs: number;
}

interface ChurnResults {
  readonly nodes: number;
  readonly cells: readonly ChurnCell[];
}

const NODES = 1_000;
const PACES = [0, 100, 1_000];

export async function measureChurn(bench: Bench): Promise<ChurnResults> {
  const cluster = await startSimulated(NODES);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'churn' });
  for (const coding of CODINGS) await bench.generator.load(listPlan(gatehouse, coding, bench.options.seconds));
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
  const { cluster, gatehouse, generator, options, note } = bench;
  note(`list of ${NODES} nodes, ${coding}, ${perSecond} node updates a second`);
  const pace: Pace = { kind: 'nodes', perSecond };
  const churn = startChurn(cluster.cluster.objects, pace);
  await loopDelayMs(gatehouse); // forgets what was before
  const load = await generator.load(listPlan(gatehouse, coding, options.seconds));
  const delay = await loopDelayMs(gatehouse);
  const { changes, seconds } = await churn.stop();
  return { coding, perSecond, changesPerSecond: changes / seconds, load, loopDelayMs: delay };
}

/** The list while nodes change, as text. */
export function printChurn({ nodes, cells }: ChurnResults): string {
  const rows = cells.map(({ coding, perSecond, changesPerSecond, load, loopDelayMs }) => {
    const calm = cells.find((cell) => cell.coding === coding && cell.perSecond === 0);
    return [
      `${coding}, ${count(perSecond)} updates a second`,
      number(changesPerSecond),
      number(load.requestsPerSecond),
      calm ? percent(load.requestsPerSecond / calm.load.requestsPerSecond) : '–',
      number(load.p50Ms),
      number(load.p99Ms),
      percent(load.serverShare),
      number(loopDelayMs),
    ];
  });
  const head = ['', 'updates/s', 'requests/s', 'kept', 'p50 ms', 'p99 ms', 'its CPU', 'loop delay p99 ms'];
  return table(`List of ${count(nodes)} nodes on 8 connections while nodes change`, head, rows);
}

interface Pace {
  readonly kind: 'nodes' | 'pods';
  readonly perSecond: number;
}

/** Changes that go on until they are stopped. */
interface Churn {
  /** Resolves, when the last change is made, to how many there were and in which time. */
  stop(): Promise<{ readonly changes: number; readonly seconds: number }>;
}

const TICK_MS = 10;
/** One of this many pod changes changes the usage of its node; the others are status reports. */
const TELLING_SHARE = 10;

/**
 * Changes one object after the other at an even rate, like the reports of kubelets. Catches up if a busy machine delays it. Each change
 * differs from the last one of the same object.
 */
export function startChurn(objects: ObjectStore, { kind, perSecond }: Pace): Churn {
  const keys = objects
    .list(kind)
    .map(({ metadata: { namespace, name } }) => (namespace ? `${namespace}/${name}` : name));
  const stopped = { now: false };
  const run = async (): Promise<{ changes: number; seconds: number }> => {
    const startAt = performance.now();
    let changes = 0;
    while (!stopped.now) {
      const due = Math.floor(((performance.now() - startAt) / 1_000) * perSecond);
      for (; changes < due; changes++) objects.patch(kind, keys[changes % keys.length] ?? '', change(kind, changes));
      await sleep(TICK_MS);
    }
    return { changes, seconds: (performance.now() - startAt) / 1_000 };
  };
  const done = run();
  return {
    stop: () => {
      stopped.now = true;
      return done;
    },
  };
}

function change(kind: Pace['kind'], serial: number): object {
  const metadata = { annotations: { 'bench.example.test/report': String(serial) } };
  if (kind === 'nodes' || serial % TELLING_SHARE !== 0) return { metadata };
  // Every second time the pod has finished, so its requests no longer count.
  return { metadata, status: { phase: Math.floor(serial / TELLING_SHARE) % 2 === 0 ? 'Succeeded' : 'Running' } };
}
