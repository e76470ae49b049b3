import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { CallerReport } from './load/callers.ts';
import type { Ask } from './load/connection.ts';
import { startGenerator } from './load/generator.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_USERS, bearersOf, type Gatehouse, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { startQuickReviews } from './peers/quick-reviews.ts';
import { median, quantile } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** The requests of another user: lists whose decision is not known, lists whose decision is known, and calls to the cluster. */
type Kind = 'new' | 'known' | 'call';
type Reports = Readonly<Record<Kind, CallerReport>>;

/** Another user during a flood of fast reviews, which uses up the event loop and not the limit of reviews. */
export interface FastReviews {
  /** `elsewhere`: the flood goes to another replica on the same machine. */
  readonly rounds: readonly { readonly elsewhere: Reports; readonly here: Reports }[];
}

const REVIEW_MS = 3;
const CONNECTIONS = 40;
const SETTLE_MS = 2_000;
const MEDIAN_RATIO = 2;
const KINDS: Readonly<Record<Kind, string>> = {
  new: 'a new question',
  known: 'a list, known',
  call: 'a call to the cluster',
};
const SETTINGS = { gateway: { enabled: true } };
/** The user who floods, and who has no rights. */
const FLOODER = BENCH_USERS[1] ?? '';
const OTHER = BENCH_USERS.at(-1) ?? '';

export async function measureFastReviews(bench: Bench): Promise<FastReviews> {
  const cluster = await startSimulated(1, 1);
  const { port: upstream } = cluster.target;
  const port = await startQuickReviews(bench.children, { upstream, reviewMs: REVIEW_MS, refused: FLOODER });
  const kubeconfig = cluster.kubeconfig.replace(`127.0.0.1:${upstream}`, `127.0.0.1:${port}`);
  const start = (name: string) => startGatehouse(bench.children, { name, kubeconfig, settings: SETTINGS });
  const [here, elsewhere] = [await start('here'), await start('elsewhere')];
  const [node = ''] = cluster.nodeNames;
  const others = await asksOf(here, OTHER, node);
  const rounds: { elsewhere: Reports; here: Reports }[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    const reports: Partial<Record<'elsewhere' | 'here', Reports>> = {};
    for (const [name, flooded] of [['elsewhere', elsewhere] as const, ['here', here] as const]) {
      const flooding = flood(bench, flooded, (await asksOf(flooded, FLOODER, node)).new);
      await sleep(SETTLE_MS);
      reports[name] = await measureOther(bench, here, others);
      const { latenciesMs, statuses } = await flooding;
      const medians = (Object.keys(KINDS) as Kind[]).map((kind) => number(p50(reports[name]?.[kind])));
      bench.note(
        `round ${round}, ${count(latenciesMs.length)} fast reviews (${Object.keys(statuses)}) ${name}: p50 ${medians.join(', ')} ms`,
      );
    }
    rounds.push(reports as { elsewhere: Reports; here: Reports });
  }
  for (const peer of [here, elsewhere, cluster]) await peer.stop();
  return { rounds };
}

async function asksOf(gatehouse: Gatehouse, user: string, node: string): Promise<Readonly<Record<Kind, Ask>>> {
  const headers = (await bearersOf(gatehouse)).get(user) ?? {};
  const ask = (path: string): Ask => ({ path, headers });
  const { listPath } = gatehouse;
  return {
    new: ask(`${listPath}/fast-*`),
    known: ask(`${listPath}?limit=1`),
    call: ask(`/api/v1/nodes/${node}`),
  };
}

/** Sends requests as fast as the answers come, in a process of its own. */
function flood({ children, options }: Bench, gatehouse: Gatehouse, ask: Ask): Promise<CallerReport> {
  const callers = Array<Ask>(CONNECTIONS).fill(ask);
  const measureMs = Object.keys(KINDS).length * options.seconds * 1_000 + 2 * SETTLE_MS;
  return startGenerator(children).callers({ target: withoutBearer(gatehouse), callers, everyMs: 0, measureMs });
}

async function measureOther({ generator, options }: Bench, gatehouse: Gatehouse, asks: Readonly<Record<Kind, Ask>>) {
  const plan = { target: withoutBearer(gatehouse), everyMs: 0, measureMs: options.seconds * 1_000 };
  const reports: Partial<Record<Kind, CallerReport>> = {};
  for (const kind of Object.keys(KINDS) as Kind[])
    reports[kind] = await generator.callers({ ...plan, callers: [asks[kind]] });
  return reports as Reports;
}

const p50 = (report: CallerReport | undefined): number => median(report?.latenciesMs ?? []);
const p99 = (report: CallerReport): number => quantile(report.latenciesMs, 0.99);

/** The results as text. */
export function printFastReviews({ rounds }: FastReviews): string {
  const rows = (Object.entries(KINDS) as [Kind, string][]).map(([kind, name]) => {
    const of = (where: 'elsewhere' | 'here', value: (report: CallerReport) => number): number =>
      median(rounds.map((round) => value(round[where][kind])));
    const ratio = median(rounds.map((round) => p50(round.here[kind]) / p50(round.elsewhere[kind])));
    return [
      name,
      number(of('elsewhere', p50)),
      number(of('here', p50)),
      number(ratio),
      number(of('elsewhere', p99)),
      number(of('here', p99)),
      `p50 ≤ ${MEDIAN_RATIO} ×`,
      verdict(ratio <= MEDIAN_RATIO),
    ];
  });
  const head = ['', 'p50 ms, flood elsewhere', 'here', '×', 'p99 ms, flood elsewhere', 'here', 'target', ''];
  return table(
    `Another user beside ${CONNECTIONS} connections of questions that were never asked, reviews of ${REVIEW_MS} ms`,
    head,
    rows,
  );
}
