import { type Bench, listPlan } from './bench.ts';
import type { BrowserReport, Typed } from './load/browsers.ts';
import type { Ask } from './load/connection.ts';
import type { LoadPlan, LoadReport } from './load/load.ts';
import type { SignInReport } from './load/sign-ins.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_USERS, type Gatehouse, startGatehouse, tokenAsk, withoutBearer } from './peers/gatehouse.ts';
import { type OidcProvider, startOidcProvider } from './peers/oidc-provider.ts';
import { BROWSER_CLIENTS, PAGE, PAGE_FORM, REDEMPTION, SCOPE } from './peers/sign-in-page.ts';
import { WITHOUT_THROTTLE } from './sign-in.ts';
import { FLOOD_CONNECTIONS, type FloodRound, floodTable, measureFloods } from './sign-in-floods.ts';
import { medianBy } from './statistics.ts';
import { count, number, percent, table, verdict } from './table.ts';

/** The sign-in page, and sign-ins by it. */
export interface BrowserResults {
  readonly nodes: number;
  readonly pages: readonly PageRound[];
  readonly signIns: readonly SignInRound[];
  readonly floods: readonly FloodRound[];
}

/** Visits of the page, beside oidc-provider's redirect to a page of somebody else. */
interface PageRound {
  readonly own: LoadReport;
  readonly peer: LoadReport;
}

/** Whole sign-ins by browser, beside the password grant of the same users with the same scope. */
interface SignInRound {
  readonly browser: BrowserReport;
  readonly password: SignInReport;
}

/** Target: visits of the page a second, on one process. */
const VISITS_PER_SECOND = 5_000;
/** Target: the ratio of whole sign-ins to those by the password grant, so that nothing but the hash limits them. */
const SIGN_IN_RATIO = 0.95;

/** Two password checks run at once; the other browsers keep their queue from being empty while these are at other steps. */
const SIGN_IN_CONNECTIONS = 6;

const SETTINGS = {
  authentication: { ...WITHOUT_THROTTLE, oauthOptions: BROWSER_CLIENTS },
  // Sessions are in Secrets, as in a cluster, so the redemption of a code writes one.
  sessions: { store: 'kubernetes' },
};

/** Measures everything with one Gatehouse, on the smallest of the requested clusters, because other work delays its list most. */
export async function measureBrowser(bench: Bench): Promise<BrowserResults> {
  const cluster = await startSimulated(bench.options.nodes[0] ?? 1);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'browser', settings: SETTINGS });
  const peer = await startOidcProvider(bench.children);
  const pages = await measurePages(bench, gatehouse, peer);
  await peer.stop();
  const signIns = await measureSignIns(bench, gatehouse);
  const floods = await measureFloods(bench, gatehouse, (flooder, measureMs) =>
    flooder.browsers({
      ...browsersAt(gatehouse, floodPeople(gatehouse.password)),
      browsers: FLOOD_CONNECTIONS,
      measureMs,
    }),
  );
  await gatehouse.stop();
  await cluster.stop();
  return { nodes: cluster.nodeNames.length, pages, signIns, floods };
}

async function measurePages({ generator, note, options }: Bench, gatehouse: Gatehouse, peer: OidcProvider) {
  const own: LoadPlan = {
    ...listPlan(gatehouse, 'identity', options.seconds),
    ...PAGE,
    target: withoutBearer(gatehouse),
  };
  const theirs: LoadPlan = { ...own, target: peer.target, serverPid: peer.pid, status: 303 };
  for (const plan of [own, theirs]) await generator.load(plan); // warms both up
  const rounds: PageRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    note(`round ${round}, visits of the page, then of oidc-provider`);
    rounds.push({ own: await generator.load(own), peer: await generator.load(theirs) });
  }
  return rounds;
}

async function measureSignIns({ generator, note, options }: Bench, gatehouse: Gatehouse): Promise<SignInRound[]> {
  const people = BENCH_USERS.map((username) => ({ username, password: gatehouse.password }));
  const measureMs = options.seconds * 1_000;
  const browsers = { ...browsersAt(gatehouse, people), browsers: SIGN_IN_CONNECTIONS, measureMs };
  const asks = people.map((typed): Ask => tokenAsk({ grant_type: 'password', scope: SCOPE, ...typed }));
  const { target, serverPid } = browsers;
  const grants = { target, serverPid, asks, connections: SIGN_IN_CONNECTIONS, measureMs };
  await generator.signIns(grants); // warms up what both have in common
  await generator.browsers(browsers);
  const rounds: SignInRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    note(`round ${round}, sign-ins by the password grant, then by browser`);
    const password = { ...(await generator.signIns(grants)), refreshTokens: [] }; // tokens are not printed
    rounds.push({ password, browser: await generator.browsers(browsers) });
  }
  return rounds;
}

const browsersAt = (gatehouse: Gatehouse, people: readonly Typed[]) => ({
  target: withoutBearer(gatehouse),
  page: PAGE,
  form: PAGE_FORM,
  redemption: REDEMPTION,
  people,
  serverPid: gatehouse.pid,
});

/** For each user in this order: a wrong password, an unknown name, the right password. */
export const floodPeople = (password: string): Typed[] =>
  BENCH_USERS.flatMap((username) => [
    { username, password: 'x'.repeat(password.length) },
    { username: username.replace('bench', 'noone'), password },
    { username, password },
  ]);

/** The page and the sign-ins by it as text: tables with their targets. */
export const printBrowser = (results: BrowserResults): string =>
  [
    'Sign-ins by browser: bcrypt cost 10. Limits by user and address are raised out of the way, and each browser has an address of its own',
    'through a trusted proxy. Nobody has a cookie. The client uses PKCE and the scope openid.',
    '',
    pageTable(results),
    signInTable(results),
    floodTable(results.nodes, results.floods, 'sign in by browser'),
  ].join('\n');

function pageTable({ pages }: BrowserResults): string {
  const row = (name: string, of: keyof PageRound): string[] => [
    name,
    number(medianBy(pages, (round) => round[of].requestsPerSecond)),
    number(medianBy(pages, (round) => round[of].p50Ms)),
    number(medianBy(pages, (round) => round[of].p99Ms)),
    count(Math.round(medianBy(pages, (round) => round[of].bytesPerAnswer))),
    number(medianBy(pages, (round) => microsPerRequest(round[of]))),
    percent(medianBy(pages, (round) => round[of].generatorShare)),
  ];
  const rate = medianBy(pages, ({ own }) => own.requestsPerSecond);
  const ratio = medianBy(pages, ({ own, peer }) => own.requestsPerSecond / peer.requestsPerSecond);
  const byCpu = medianBy(pages, ({ own, peer }) => microsPerRequest(peer) / microsPerRequest(own));
  return [
    table(
      'Authorization requests of people without a cookie, on 8 connections',
      ['', 'requests/s', 'p50 ms', 'p99 ms', 'bytes', 'CPU µs/request', 'generator CPU'],
      [row('Gatehouse: the page', 'own'), row('oidc-provider: a redirect to a page', 'peer')],
    ),
    `Pages a second, target ≥ ${count(VISITS_PER_SECOND)}: ${verdict(rate >= VISITS_PER_SECOND)}. Gatehouse / oidc-provider: ${number(ratio)}, by processor time ${number(byCpu)}.`,
    '',
  ].join('\n');
}

const microsPerRequest = ({ serverShare = Number.NaN, requestsPerSecond }: LoadReport): number =>
  (serverShare / requestsPerSecond) * 1e6;

function signInTable({ signIns }: BrowserResults): string {
  const rate = ({ statuses, seconds }: BrowserReport): number => (statuses['200'] ?? 0) / seconds;
  const perCore = (report: BrowserReport): number => rate(report) / (report.serverShare ?? Number.NaN);
  const row = (name: string, of: keyof SignInRound): string[] => [
    name,
    number(medianBy(signIns, (round) => rate(round[of]))),
    percent(medianBy(signIns, (round) => round[of].serverShare ?? Number.NaN)),
    number(medianBy(signIns, (round) => perCore(round[of]))),
  ];
  const ratio = medianBy(signIns, ({ browser, password }) => rate(browser) / rate(password));
  const byCpu = medianBy(signIns, ({ browser, password }) => perCore(browser) / perCore(password));
  const perRound = signIns.map(({ browser, password }) => number(rate(browser) / rate(password))).join(' ');
  return [
    table(
      `Whole sign-ins on ${SIGN_IN_CONNECTIONS} connections, with ID tokens`,
      ['', 'a second', 'its CPU', 'per core'],
      [row('password grant', 'password'), row('page, form and redemption', 'browser')],
    ),
    `By browser / by the password grant: ${number(ratio)} (rounds: ${perRound}), target ≥ ${SIGN_IN_RATIO}: ${verdict(ratio >= SIGN_IN_RATIO)}; by processor time ${number(byCpu)}.`,
    '',
  ].join('\n');
}
