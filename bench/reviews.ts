import { setTimeout as sleep } from 'node:timers/promises';
import { startFaultProxy } from '../dev/fault-proxy/fault-proxy.ts';
import type { Bench } from './bench.ts';
import { type FastReviews, measureFastReviews, printFastReviews } from './fast-reviews.ts';
import type { CallerReport } from './load/callers.ts';
import { type Ask, Connection, requestBytes } from './load/connection.ts';
import { startGenerator } from './load/generator.ts';
import { type BenchCluster, makeNodes, startReal, startSimulated, withNodes } from './peers/clusters.ts';
import { BENCH_USERS, bearersOf, type Gatehouse, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { median, quantile } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** Other callers, while one floods the cluster with access reviews, at one round-trip time to the cluster. */
interface FloodedReviews {
  readonly roundTripMs: number;
  /** Each request is for another node, so each needs a new review. */
  readonly idle: CallerReport;
  readonly flooded: CallerReport;
  readonly flood: CallerReport;
  /** From the end of a right, during the flood, to the first refusal; the longest of the rounds. */
  readonly outlivedMs: number;
}

/** Callers whose decisions are known, while the API server is frozen. */
interface FrozenReviews {
  readonly cluster: string;
  readonly frozenMs: number;
  readonly before: CallerReport;
  readonly frozen: CallerReport;
  readonly after: CallerReport;
}

interface ReviewResults {
  readonly flooded: readonly FloodedReviews[];
  readonly fast: FastReviews;
  readonly frozen: FrozenReviews;
}

/** A cluster in another region, and one on another continent. */
const ROUND_TRIPS_MS = [40, 200];
/** The number of connections in the attack that was found. */
const FLOOD_CONNECTIONS = 420;
const MEASURE_MS = 20_000;
const WARM_UP_MS = 2_000;
const POLL_MS = 50;
/** After this time we conclude that a right never ends. */
const GIVE_UP_MS = 60_000;
const FROZEN_MS = 60_000;
const AROUND_FREEZE_MS = 15_000;
/** The dashboards of a small team send a request every 200 ms. */
const KNOWN_EVERY_MS = 200;

/** How fast others get uncached decisions during the flood, compared with idle. */
const FLOODED_P99_RATIO = 2;
/** How long a right may still be used after it ended, besides one review. */
const RIGHT_OUTLIVES_MS = 10_000;
/** Target for callers whose decision is known, while the API server is frozen. */
const FROZEN_P99_MS = 50;

/** The flooder has no rights. The loser has a right until the bench withdraws it. All other users may do everything. */
const [, FLOODER = '', LOSER = '', OTHER = ''] = BENCH_USERS;

/**
 * Runs the flood on the simulated cluster, whose reviews cost no processor time. Freezes the real cluster if there is one.
 */
export async function measureReviews(bench: Bench): Promise<ReviewResults> {
  const fast = await measureFastReviews(bench);
  const flooded: FloodedReviews[] = [];
  for (const roundTripMs of ROUND_TRIPS_MS) flooded.push(await measureFlooded(bench, roundTripMs));
  return {
    flooded,
    fast,
    frozen: await (bench.withoutReal === undefined ? freezeReal(bench) : freezeSimulated(bench)),
  };
}

interface ReviewBench {
  readonly bench: Bench;
  readonly gatehouse: Gatehouse;
  readonly asks: Asks;
}

async function measureFlooded(bench: Bench, roundTripMs: number): Promise<FloodedReviews> {
  const rights = { loser: true };
  const cluster = await startSimulated(1, 1, ({ user }) => user !== FLOODER && (user !== LOSER || rights.loser));
  const { port } = cluster.target;
  const proxy = await startFaultProxy(port);
  const kubeconfig = cluster.kubeconfig.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`);
  const gatehouse = await startGatehouse(bench.children, { name: `reviews-${roundTripMs}`, kubeconfig });
  const parts = { bench, gatehouse, asks: await asksOf(gatehouse) };
  proxy.set({ delayMs: roundTripMs / 2 });
  bench.note(`uncached decisions at ${roundTripMs} ms, idle, then beside a flood of ${FLOOD_CONNECTIONS} connections`);
  const others = await measureOthers(parts);
  const outlivedMs = await measureOutlived(parts, rights);
  await gatehouse.stop();
  await proxy.stop();
  await cluster.stop();
  return { roundTripMs, ...others, outlivedMs };
}

const flood = ({ bench, gatehouse, asks }: ReviewBench, measureMs: number): Promise<CallerReport> => {
  const callers = Array.from({ length: FLOOD_CONNECTIONS }, () => asks.uncached(FLOODER));
  return startGenerator(bench.children).callers({ target: withoutBearer(gatehouse), callers, everyMs: 0, measureMs });
};

async function measureOthers(parts: ReviewBench): Promise<Pick<FloodedReviews, 'idle' | 'flooded' | 'flood'>> {
  const { bench, gatehouse, asks } = parts;
  const plan = { target: withoutBearer(gatehouse), callers: [asks.uncached(OTHER)], everyMs: 0 };
  await bench.generator.callers({ ...plan, measureMs: WARM_UP_MS });
  const idle = await bench.generator.callers({ ...plan, measureMs: MEASURE_MS });
  const flooding = flood(parts, MEASURE_MS + 2 * WARM_UP_MS);
  await sleep(WARM_UP_MS);
  const flooded = await bench.generator.callers({ ...plan, measureMs: MEASURE_MS });
  return { idle, flooded, flood: await flooding };
}

/** Measures how long a right can be used after it has ended: the longest time of all rounds. */
async function measureOutlived(parts: ReviewBench, rights: { loser: boolean }): Promise<number> {
  const { rounds } = parts.bench.options;
  const state = { isFlooding: true };
  flood(parts, rounds * 2 * GIVE_UP_MS)
    .catch(() => undefined) // its server ends after the last round
    .finally(() => {
      state.isFlooding = false;
    });
  const outlived: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    parts.bench.note(`round ${round}, a right ends beside the flood`);
    rights.loser = true;
    await untilStatus(parts, 200);
    rights.loser = false;
    outlived.push(await untilStatus(parts, 403));
  }
  if (!state.isFlooding) throw new Error('the flood ended before the rights did');
  return Math.max(...outlived);
}

/** Milliseconds until the list of the user whose right changes has this status. */
async function untilStatus({ gatehouse, asks }: ReviewBench, status: number): Promise<number> {
  const connection = await Connection.open(gatehouse.target);
  const beganAt = performance.now();
  try {
    while (performance.now() - beganAt < GIVE_UP_MS) {
      const answer = await connection.exchange(requestBytes(withoutBearer(gatehouse), asks.list(LOSER)));
      if (answer.status === status) return performance.now() - beganAt;
      await sleep(POLL_MS);
    }
  } finally {
    connection.close();
  }
  throw new Error(`the list was never answered ${status}`);
}

/** Freezes a real kube-apiserver with SIGSTOP. */
async function freezeReal(bench: Bench): Promise<FrozenReviews> {
  const control = await startReal();
  const users = BENCH_USERS.slice(1).map((user) => `--user=${user}`);
  await control.kubectl(['create', 'clusterrolebinding', 'bench-others', '--clusterrole=cluster-admin', ...users]);
  const cluster = await withNodes(control, makeNodes(1), 0);
  const results = await measureFrozen(bench, cluster, () => control.freezeApiServer());
  await control.stop();
  return results;
}

/** Freezes the simulated API server. It is in this process, so a proxy holds its connections in both directions instead. */
async function freezeSimulated(bench: Bench): Promise<FrozenReviews> {
  const cluster = await startSimulated(1, 1);
  const { port } = cluster.target;
  const proxy = await startFaultProxy(port);
  const kubeconfig = cluster.kubeconfig.replace(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`);
  const results = await measureFrozen(bench, { ...cluster, kubeconfig }, () => {
    proxy.set({ hold: 'both' });
    return () => proxy.set({});
  });
  await proxy.stop();
  await cluster.stop();
  return results;
}

async function measureFrozen(bench: Bench, cluster: BenchCluster, freeze: () => () => void): Promise<FrozenReviews> {
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'frozen' });
  const asks = await asksOf(gatehouse);
  const plan = { target: withoutBearer(gatehouse), callers: BENCH_USERS.map(asks.list), everyMs: KNOWN_EVERY_MS };
  bench.note(
    `callers whose answer is known, before, while and after ${cluster.name} is frozen for ${FROZEN_MS / 1000} s`,
  );
  const before = await bench.generator.callers({ ...plan, measureMs: AROUND_FREEZE_MS });
  const thaw = freeze();
  const frozen = await bench.generator.callers({ ...plan, measureMs: FROZEN_MS });
  thaw();
  const after = await bench.generator.callers({ ...plan, measureMs: AROUND_FREEZE_MS });
  await gatehouse.stop();
  return { cluster: cluster.name, frozenMs: FROZEN_MS, before, frozen, after };
}

interface Asks {
  /** A page of one node. */
  list(user: string): Ask;
  /** A node that no earlier request was for. */
  uncached(user: string): Ask;
}

async function asksOf(gatehouse: Gatehouse): Promise<Asks> {
  const bearers = await bearersOf(gatehouse);
  const ask = (path: string) => (user: string) => ({
    path: gatehouse.listPath + path,
    headers: bearers.get(user) ?? {},
  });
  return { list: ask('?limit=1'), uncached: ask('/uncached-*') };
}

/** The results of access reviews as text: tables with their targets. */
export const printReviews = ({ flooded, fast, frozen }: ReviewResults): string =>
  [printFastReviews(fast), ...flooded.map(floodedText), frozenText(frozen)].join('\n');

const p99 = ({ latenciesMs }: CallerReport): number => quantile(latenciesMs, 0.99);

const row = (name: string, report: CallerReport): string[] => [
  name,
  count(report.latenciesMs.length),
  number(median(report.latenciesMs)),
  number(p99(report)),
  number(quantile(report.latenciesMs, 1)),
  statusText(report),
];

const statusText = ({ statuses }: CallerReport): string =>
  Object.entries(statuses)
    .map(([status, times]) => `${status}: ${count(times)}`)
    .join(', ');

const HEAD = ['', 'requests', 'p50 ms', 'p99 ms', 'max ms', 'answers'];

/** Whether all answers are 404, because the caller has the right and the node does not exist. */
const isAnswered = ({ statuses }: CallerReport): boolean => Object.keys(statuses).every((status) => status === '404');

function floodedText({ roundTripMs, idle, flooded, flood, outlivedMs }: FloodedReviews): string {
  const ratio = p99(flooded) / p99(idle);
  const mostMs = RIGHT_OUTLIVES_MS + roundTripMs;
  return [
    table(`Questions that were never asked, cluster ${roundTripMs} ms away (R-21)`, HEAD, [
      row('another user, idle', idle),
      row('another user, flooded', flooded),
      row('the flood', flood),
    ]),
    `p99 flooded ${number(ratio)} × idle, target ≤ ${FLOODED_P99_RATIO}: ${verdict(ratio <= FLOODED_P99_RATIO)}. None refused: ${verdict(isAnswered(flooded))}.`,
    `A right that ends beside the flood is refused after ${number(outlivedMs)} ms, target ≤ ${count(mostMs)}: ${verdict(outlivedMs <= mostMs)}.`,
    '',
  ].join('\n');
}

function frozenText({ cluster, frozenMs, before, frozen, after }: FrozenReviews): string {
  const isServed = [before, frozen, after].every(({ statuses }) =>
    Object.keys(statuses).every((code) => code === '200'),
  );
  return [
    table(`Callers whose answer is known, while ${cluster} is frozen for ${frozenMs / 1000} s`, HEAD, [
      row('before', before),
      row('frozen', frozen),
      row('after', after),
    ]),
    `p99 frozen, target ≤ ${FROZEN_P99_MS} ms: ${verdict(p99(frozen) <= FROZEN_P99_MS)}. Nobody refused: ${verdict(isServed)}.`,
    '',
  ].join('\n');
}
