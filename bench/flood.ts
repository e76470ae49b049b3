import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { CallerReport } from './load/callers.ts';
import type { Ask } from './load/connection.ts';
import { startGenerator } from './load/generator.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_USERS, bearersOf, type Gatehouse, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { median, quantile } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** The calls of a user to the cluster, alone and beside users who get 403 for everything. */
interface FloodResults {
  readonly rounds: readonly FloodRound[];
}

interface FloodRound {
  readonly idle: Calls;
  /** The results by the number of users who flood. */
  readonly flooded: Readonly<Record<number, Calls>>;
}

/** The results of one user: calls to the cluster, and lists from memory. */
interface Calls {
  readonly call: CallerReport;
  readonly list: CallerReport;
}

const FLOODERS = [1, 4] as const;
/** The connections of each user who floods, to `/api` and to `/kapis`. */
const CONNECTIONS = { calls: 120, lists: 20 };
const SETTLE_MS = 2_000;

const P50_RATIO = 2;
const P99_RATIO = 3;

const SETTINGS = { gateway: { enabled: true }, limits: { maxConnectionsPerAddress: 10_000 } };
/** The users who flood, and who have no rights. */
const REFUSED: readonly string[] = BENCH_USERS.slice(1, 1 + Math.max(...FLOODERS));
const OTHER = BENCH_USERS.at(-1) ?? '';

export async function measureFlood(bench: Bench): Promise<FloodResults> {
  const cluster = await startSimulated(1, 1, ({ user = '' }) => !REFUSED.includes(user));
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'flood', settings: SETTINGS });
  const bearers = await bearersOf(gatehouse);
  const ask = (user: string, path: string): Ask => ({ path, headers: bearers.get(user) ?? {} });
  const asksOf = (user: string): Asks => ({
    call: ask(user, `/api/v1/nodes/${cluster.nodeNames[0]}`),
    list: ask(user, `${gatehouse.listPath}?limit=1`),
  });
  const rounds: FloodRound[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    const idle = await measureCalls(bench, gatehouse, asksOf(OTHER));
    bench.note(`round ${round}, idle: ${callsText(idle)}`);
    const flooded: Record<number, Calls> = {};
    for (const users of FLOODERS) {
      const floods = REFUSED.slice(0, users).map((user) => flood(bench, gatehouse, asksOf(user)));
      await sleep(SETTLE_MS);
      const calls = await measureCalls(bench, gatehouse, asksOf(OTHER));
      const rates = (await Promise.all(floods)).map(({ latenciesMs }) => latenciesMs.length);
      bench.note(`round ${round}, beside ${users} that ask ${rates.map(count).join(', ')} times: ${callsText(calls)}`);
      flooded[users] = calls;
    }
    rounds.push({ idle, flooded });
  }
  await gatehouse.stop();
  await cluster.stop();
  return { rounds };
}

interface Asks {
  readonly call: Ask;
  readonly list: Ask;
}

/** Sends requests as fast as the answers come, in a process of its own. */
function flood({ children, options }: Bench, gatehouse: Gatehouse, { call, list }: Asks): Promise<CallerReport> {
  const callers = [...Array(CONNECTIONS.calls).fill(call), ...Array(CONNECTIONS.lists).fill(list)] as Ask[];
  const measureMs = 2 * options.seconds * 1_000 + 2 * SETTLE_MS;
  return startGenerator(children).callers({ target: withoutBearer(gatehouse), callers, everyMs: 0, measureMs });
}

/** Sends one request after the other, so that the measurement itself is not a flood. */
async function measureCalls({ generator, options }: Bench, gatehouse: Gatehouse, asks: Asks): Promise<Calls> {
  const plan = { target: withoutBearer(gatehouse), everyMs: 0, measureMs: options.seconds * 1_000 };
  const call = await generator.callers({ ...plan, callers: [asks.call] });
  return { call, list: await generator.callers({ ...plan, callers: [asks.list] }) };
}

const p50 = ({ latenciesMs }: CallerReport): number => median(latenciesMs);
const p99 = ({ latenciesMs }: CallerReport): number => quantile(latenciesMs, 0.99);

const callsText = ({ call, list }: Calls): string =>
  `/api p50 ${number(p50(call))}, p99 ${number(p99(call))} ms; /kapis p50 ${number(p50(list))}, p99 ${number(p99(list))} ms`;

/** The results as text. */
export function printFlood({ rounds }: FloodResults): string {
  const head = ['', 'p50 ms', 'p99 ms', 'p50 × idle', 'p99 × idle', 'target', ''];
  const rows = (['call', 'list'] as const).flatMap((what) => {
    const of = (calls: readonly Calls[], value: (report: CallerReport) => number): number =>
      median(calls.map((each) => value(each[what])));
    const name = what === 'call' ? 'a call to the cluster' : 'a list';
    const idle = rounds.map((round) => round.idle);
    return [
      [`${name}, idle`, number(of(idle, p50)), number(of(idle, p99)), '', '', '', ''],
      ...FLOODERS.map((users) => {
        const flooded = rounds.map((round) => round.flooded[users] as Calls);
        const ratio = (value: (report: CallerReport) => number): number =>
          median(rounds.map((round) => value((round.flooded[users] as Calls)[what]) / value(round.idle[what])));
        return [
          `${name}, beside ${users}`,
          number(of(flooded, p50)),
          number(of(flooded, p99)),
          number(ratio(p50)),
          number(ratio(p99)),
          `≤ ${P50_RATIO}, ≤ ${P99_RATIO}`,
          verdict(ratio(p50) <= P50_RATIO && ratio(p99) <= P99_RATIO),
        ];
      }),
    ];
  });
  return table(
    `One user beside others who get 403 for everything, ${CONNECTIONS.calls} connections on /api and ${CONNECTIONS.lists} on /kapis each`,
    head,
    rows,
  );
}
