import { dummyHash, libraryBcrypt } from '../src/users/password-hash.ts';
import type { Bench } from './bench.ts';
import type { Ask } from './load/connection.ts';
import type { RefreshReport, SignInReport } from './load/sign-ins.ts';
import { BENCH_HASH_COST, BENCH_USERS, type Gatehouse, signInAsk, tokenAsk, withoutBearer } from './peers/gatehouse.ts';
import { median, medianBy, quantile, ratios } from './statistics.ts';
import { number, percent, table, verdict } from './table.ts';

/** How many sign-ins and refreshes are possible in a second, and what verifying a bearer costs. */
export interface RateResults {
  readonly signIns: readonly SignInReport[];
  /** Hash compares alone, for each second of processor time: sign-ins cannot be faster. One result a round. */
  readonly bcryptPerCore: readonly number[];
  readonly refreshes: readonly RefreshReport[];
  readonly bearers: readonly BearerRound[];
}

/** Milliseconds of each request, in the order of the requests. */
interface BearerRound {
  /** Requests for a path that needs no token. */
  readonly none: readonly number[];
  /** Requests with the same token each time. */
  readonly cached: readonly number[];
  /** Requests with another token each time, which has not been used before. */
  readonly firstUse: readonly number[];
}

/** A bench with the Gatehouse that all its measurements share. */
export interface SignInBench extends Bench {
  readonly gatehouse: Gatehouse;
}

/** Targets per second, for each core that the server uses meanwhile. */
const PER_CORE = { signIns: 15, refreshes: 120 } as const;
/** Targets for verifying a bearer, 99th percentile. */
const BEARER_P99_MS = { cached: 1, firstUse: 2 } as const;

/** Two password checks run at once; two more connections keep their queue from being empty. */
const SIGN_IN_CONNECTIONS = 4;
const REFRESH_CONNECTIONS = 8;
/** As many rotations as the server allows a session in a minute. */
const ROTATIONS = 10;
/** 125 sessions for each user, which is below the limit of 256. */
const MOST_SESSIONS = 2_000;
const MOST_BEARERS = 1_200;
/** The share of the requests that is not measured, at the start of each series. */
const HEAT_SHARE = 0.2;

/** The sign-ins of each round make the sessions that are refreshed, and the refreshes make the unused tokens. */
export async function measureRates(parts: SignInBench): Promise<RateResults> {
  const { options, note } = parts;
  const signIns: SignInReport[] = [];
  const bcryptPerCore: number[] = [];
  const refreshes: RefreshReport[] = [];
  const bearers: BearerRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    note(`round ${round}, sign-ins, refreshes, bearers`);
    const { refreshTokens, ...made } = await signInFor(parts);
    bcryptPerCore.push(await measureBcrypt());
    const { accessTokens, ...refreshed } = await refreshAll(parts, refreshTokens);
    signIns.push({ ...made, refreshTokens: [] }); // tokens are not printed
    refreshes.push({ ...refreshed, accessTokens: [] });
    bearers.push(await useBearers(parts, accessTokens));
  }
  return { signIns, bcryptPerCore, refreshes, bearers };
}

const COMPARES = 20;

/** Measures bcrypt in this process, which is idle, because the nodes of its simulated cluster do not change. */
async function measureBcrypt(): Promise<number> {
  const before = process.cpuUsage();
  for (let compare = 0; compare < COMPARES; compare++)
    await libraryBcrypt.compare('made-up', dummyHash(BENCH_HASH_COST));
  const { user, system } = process.cpuUsage(before);
  return COMPARES / ((user + system) / 1e6);
}

function signInFor({ gatehouse, generator, options }: SignInBench): Promise<SignInReport> {
  return generator.signIns({
    target: withoutBearer(gatehouse),
    asks: BENCH_USERS.map((name) => signInAsk(name, gatehouse.password)),
    connections: SIGN_IN_CONNECTIONS,
    measureMs: options.seconds * 1_000,
    serverPid: gatehouse.pid,
  });
}

function refreshAll(
  { gatehouse, generator, options }: SignInBench,
  refreshTokens: readonly string[],
): Promise<RefreshReport> {
  return generator.refreshes({
    target: withoutBearer(gatehouse),
    ask: tokenAsk({ grant_type: 'refresh_token' }),
    refreshTokens: refreshTokens.slice(0, MOST_SESSIONS),
    rotations: ROTATIONS,
    connections: REFRESH_CONNECTIONS,
    measureMs: options.seconds * 1_000,
    serverPid: gatehouse.pid,
  });
}

/** Sends whole requests, for one node and for the version, which needs no token. So their cost includes more than the verification. */
async function useBearers(
  { gatehouse, generator }: SignInBench,
  accessTokens: readonly string[],
): Promise<BearerRound> {
  const target = withoutBearer(gatehouse);
  const measure = async (asks: readonly Ask[]): Promise<number[]> => {
    const { latenciesMs } = await generator.samples({ target, asks, status: 200 });
    return latenciesMs.slice(Math.floor(latenciesMs.length * HEAT_SHARE));
  };
  const path = `${gatehouse.listPath}?limit=1`;
  const ask = (token: string): Ask => ({ path, headers: { authorization: `Bearer ${token}` } });
  const fresh = accessTokens.slice(0, MOST_BEARERS);
  const [token = ''] = accessTokens.slice(-1);
  return {
    none: await measure(fresh.map(() => ({ path: '/version' }))),
    cached: await measure(fresh.map(() => ask(token))),
    firstUse: await measure(fresh.map(ask)),
  };
}

/** The results as text: tables with their targets. */
export const printRates = (results: RateResults): string => [rateTable(results), bearerTable(results)].join('\n');

/** The rates for each core that the server used, because the machine may have other work. */
function rateTable({ signIns, bcryptPerCore, refreshes }: RateResults): string {
  const row = (
    name: string,
    rounds: readonly { readonly rate: number; readonly serverShare?: number }[],
    least: number,
  ): string[] => {
    const perCore = medianBy(rounds, ({ rate, serverShare = Number.NaN }) => rate / serverShare);
    return [
      name,
      number(medianBy(rounds, ({ rate }) => rate)),
      percent(medianBy(rounds, ({ serverShare = Number.NaN }) => serverShare)),
      number(perCore),
      `≥ ${least}`,
      Number.isNaN(perCore) ? '–' : verdict(perCore >= least),
    ];
  };
  const made = signIns.map((round) => ({ ...round, rate: (round.statuses['200'] ?? 0) / round.seconds }));
  const refreshed = refreshes.map((round) => ({ ...round, rate: round.refreshes / round.seconds }));
  const alone = median(bcryptPerCore);
  const reached = ratios(
    made.map(({ rate, serverShare = Number.NaN }) => rate / serverShare),
    bcryptPerCore,
  );
  return [
    table(
      'Sign-ins on 4 connections, refreshes on 8, each of a session of its own (R-04)',
      ['', 'a second', 'its CPU', 'per core', 'target', ''],
      [row('sign-ins', made, PER_CORE.signIns), row('refreshes', refreshed, PER_CORE.refreshes)],
    ),
    `bcrypt alone makes ${number(alone)} compares per core here and now: sign-ins reach ${percent(median(reached))} of it.`,
    '',
  ].join('\n');
}

function bearerTable({ bearers }: RateResults): string {
  const row = (name: string, of: 'none' | 'cached' | 'firstUse', mostMs?: number): string[] => {
    const p99 = medianBy(bearers, (round) => quantile(round[of], 0.99));
    const judged = mostMs === undefined ? ['–', ''] : [`≤ ${mostMs}`, verdict(p99 <= mostMs)];
    return [name, number(medianBy(bearers, (round) => median(round[of]))), number(p99), ...judged];
  };
  return table(
    'Whole requests one after the other, the check of the bearer in them (R-04)',
    ['', 'p50 ms', 'p99 ms', 'target p99', ''],
    [
      row('no bearer: version', 'none'),
      row('list of one node, bearer seen before', 'cached', BEARER_P99_MS.cached),
      row('list of one node, first use of the bearer', 'firstUse', BEARER_P99_MS.firstUse),
    ],
  );
}
