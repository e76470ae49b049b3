import { startGenerator } from './load/generator.ts';
import type { ProbeReport } from './load/probes.ts';
import { serverShareOf, usageNow } from './load/usage.ts';
import type { VisibleReport } from './load/visible.ts';
import { type Bench, probePlan, visiblePlan } from './measure.ts';
import { startChurn } from './paced-changes.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { loopDelayMs } from './peers/loop-delay.ts';
import { memoryOf } from './peers/memory.ts';
import { type Simulation, startSimulated } from './peers/simulated.ts';
import { TURN_WATCH, type Turns } from './peers/turns.ts';

/** Probes of the list and changes of nodes while pods make thousands of events (C-29). */
export interface StormResults {
  readonly nodes: number;
  readonly pods: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  /** A page of ten, ten times a second, before and meanwhile. */
  readonly idle: ProbeReport;
  readonly busy: ProbeReport;
  readonly visible: VisibleReport;
  /** 99th percentile of the server's event loop, meanwhile. */
  readonly loopDelayMs: number;
  readonly turns: Turns;
  /** Of one core. */
  readonly serverShare: number | undefined;
  readonly peakBytes: number | undefined;
}

const NODES = 15_000;
const PODS_PER_NODE = 30;
const EVENTS_PER_SECOND = 5_000;
const BUSY_MS = 30_000;
const CALM_MS = 10_000;
/** 100 a second: half of the time, so that on a slow machine too they end within it. */
const TRIES = 1_500;

/** One pod after the other changes; every tenth event changes the usage of a node. */
export async function measureStorm(bench: Bench): Promise<StormResults> {
  bench.note(`${EVENTS_PER_SECOND} pod events a second for ${BUSY_MS / 1_000} s on ${NODES} nodes`);
  const cluster = await startSimulated(NODES, PODS_PER_NODE);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'storm', nodeArguments: TURN_WATCH });
  const pods = cluster.cluster.objects.list('pods').length;
  const idle = await bench.generator.probes(probePlan(gatehouse, 'identity', CALM_MS));
  const storm = await measureBusy(bench, cluster, gatehouse);
  const { peak: peakBytes } = await memoryOf(gatehouse);
  await gatehouse.stop();
  await cluster.stop();
  return { nodes: NODES, pods, idle, ...storm, peakBytes };
}

type Busy = Omit<StormResults, 'nodes' | 'pods' | 'idle' | 'peakBytes'>;

async function measureBusy(bench: Bench, cluster: Simulation, gatehouse: Gatehouse): Promise<Busy> {
  const looker = startGenerator(bench.children);
  await loopDelayMs(gatehouse); // forgets what was before
  await gatehouse.takeTurns();
  const before = usageNow(gatehouse.pid);
  const churn = startChurn(cluster.cluster.objects, { kind: 'pods', perSecond: EVENTS_PER_SECOND });
  const [busy, visible] = await Promise.all([
    bench.generator.probes(probePlan(gatehouse, 'identity', BUSY_MS)),
    looker.visible(visiblePlan(cluster, gatehouse, TRIES)),
  ]);
  const { changes, seconds } = await churn.stop();
  const { serverShare } = serverShareOf(before, usageNow(gatehouse.pid));
  return {
    seconds,
    eventsPerSecond: changes / seconds,
    busy,
    visible,
    loopDelayMs: await loopDelayMs(gatehouse),
    turns: await gatehouse.takeTurns(),
    serverShare,
  };
}
