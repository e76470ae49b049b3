import { type Bench, probePlan, visiblePlan } from './bench.ts';
import { startChurn } from './churn.ts';
import { startGenerator } from './load/generator.ts';
import { loopDelayMs } from './load/metrics.ts';
import type { ProbeReport } from './load/probes.ts';
import { memoryOf, serverShareOf, usageNow } from './load/usage.ts';
import type { VisibleReport } from './load/visible.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import { type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import { LONGEST_TURN_MS, TURN_WATCH, type Turns } from './peers/turns.ts';
import { median, quantile } from './statistics.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';

/** Probes of the list, and changes of nodes, while there are thousands of pod events a second (C-29). */
export interface StormResults {
  readonly nodes: number;
  readonly pods: number;
  readonly seconds: number;
  readonly eventsPerSecond: number;
  /** Requests for a page of ten, ten times a second, before and during the storm. */
  readonly idle: ProbeReport;
  readonly busy: ProbeReport;
  readonly visible: VisibleReport;
  /** The 99th percentile of the delay of the server's event loop, during the storm. */
  readonly loopDelayMs: number;
  readonly turns: Turns;
  /** The server's processor time, as a share of one core. */
  readonly serverShare: number | undefined;
  readonly peakBytes: number | undefined;
}

const NODES = 15_000;
const PODS_PER_NODE = 30;
const EVENTS_PER_SECOND = 5_000;
const BUSY_MS = 30_000;
const CALM_MS = 10_000;
/** At 100 a second these take half of the time, so they end in time even on a slow machine. */
const TRIES = 1_500;

/** Targets during the storm. */
const STORM = { loopDelayP99Ms: 50, visibleP99Ms: 1_000, listP99Ratio: 2 } as const;

/** Changes one pod after the other. Every tenth event changes the usage of a node. */
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

/** A storm of events as text: a table with the targets of C-29. */
export function printStorm(storm: StormResults): string {
  const { nodes, pods, seconds, eventsPerSecond, idle, busy, visible, loopDelayMs, turns, serverShare, peakBytes } =
    storm;
  const p99 = quantile(visible.latenciesMs, 0.99);
  const row = (name: string, value: string, target = '–', isMet?: boolean): string[] => [
    name,
    value,
    target,
    isMet === undefined ? '' : verdict(isMet),
  ];
  const loopMost = STORM.loopDelayP99Ms;
  const listMost = STORM.listP99Ratio * idle.p99Ms;
  const rows = [
    row('events a second, for so many seconds', `${number(eventsPerSecond)}, ${number(seconds)}`),
    row('a node change in sight, p50 ms', number(median(visible.latenciesMs))),
    row('a node change in sight, p99 ms', number(p99), `≤ ${count(STORM.visibleP99Ms)}`, p99 <= STORM.visibleP99Ms),
    row('loop delay, p99 ms', number(loopDelayMs), `≤ ${loopMost}`, loopDelayMs <= loopMost),
    row(
      'longest turn, ms of processor time',
      number(turns.longestCpuMs),
      `≤ ${LONGEST_TURN_MS}`,
      turns.longestCpuMs <= LONGEST_TURN_MS,
    ),
    row('longest turn less its collections of garbage', number(turns.longestOwnMs)),
    row('page of ten, p50 ms', number(busy.p50Ms), `idle ${number(idle.p50Ms)}`),
    row('page of ten, p99 ms', number(busy.p99Ms), `≤ ${number(listMost)}`, busy.p99Ms <= listMost),
    row('probes answered 200', percent((busy.statuses['200'] ?? 0) / busy.probes)),
    row('its CPU', percent(serverShare)),
    row('resident, peak', megabytes(peakBytes)),
  ];
  const title = `5,000 pod events a second on ${count(nodes)} nodes and ${count(pods)} pods (C-29)`;
  return table(title, ['', 'measured', 'target', ''], rows);
}
