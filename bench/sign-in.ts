import { compareWithHash, dummyHash } from '../src/users/password-hash.ts';
import { listPlan } from './compare.ts';
import type { Ask } from './load/connection.ts';
import { startGenerator } from './load/generator.ts';
import type { RefreshReport } from './load/refreshes.ts';
import type { SignInReport } from './load/sign-ins.ts';
import type { Bench } from './measure.ts';
import type { BenchCluster } from './peers/bench-cluster.ts';
import { BENCH_HASH_COST, type Gatehouse, startGatehouse } from './peers/gatehouse.ts';
import type { BearerRound, FloodRound, SignInResults, ToldApart } from './results.ts';
import {
  clientsToldApartAsks,
  floodAsks,
  rightAsks,
  type ToldApartAsk,
  tokenAsk,
  toldApartAsks,
} from './sign-in-asks.ts';

/**
 * The limits by user and by address are out of the way: they would turn a flood away before it costs anything, and it is the
 * gate and the compares that are measured. Each connection is an address of its own, so the gate has to take turns.
 */
const AUTHENTICATION = {
  authenticateRateLimiterMaxTries: 1_000_000,
  authenticateRateLimiterDuration: '1s',
  addressRateLimiterMaxTries: 1_000_000,
  addressRateLimiterDuration: '1s',
  clientRateLimiterMaxTries: 1_000_000,
  clientAddressRateLimiterMaxTries: 1_000_000,
  clientRateLimiterDuration: '1s',
  trustedProxies: [{ cidr: '127.0.0.0/8' }],
};

const FLOOD_CONNECTIONS = 64;
/** Two compares at once, and a few more so that the gate is never empty. */
const SIGN_IN_CONNECTIONS = 4;
const REFRESH_CONNECTIONS = 8;
/** What the server allows a session within a minute. */
const ROTATIONS = 10;
/** 125 a user: all of them stay under the 256 that are kept of one. */
const MOST_SESSIONS = 2_000;
const MOST_BEARERS = 1_200;
/** Of each row of samples, at its start, unmeasured. */
const HEAT_SHARE = 0.2;

interface SignInBench extends Bench {
  readonly gatehouse: Gatehouse;
}

/** One Gatehouse for all of it. */
export async function measureSignIn(bench: Bench, cluster: BenchCluster, samples: number): Promise<SignInResults> {
  const options = { ...cluster, name: 'sign-in', settings: { authentication: AUTHENTICATION } };
  const parts = { ...bench, gatehouse: await startGatehouse(bench.children, options) };
  const floods = await measureFloods(parts);
  const toldApart = await measureToldApart(parts, samples);
  const clientsToldApart = await measureClientsToldApart(parts, samples);
  const rates = await measureRates(parts);
  await parts.gatehouse.stop();
  return { nodes: cluster.nodeNames.length, floods, toldApart, clientsToldApart, ...rates };
}

/** Alone and flooded in turn. The flood comes from a process of its own, so that the list is timed by an idle one. */
async function measureFloods({ gatehouse, generator, children, extent, note }: SignInBench): Promise<FloodRound[]> {
  const flooder = startGenerator(children);
  const list = listPlan(gatehouse, 'gzip', extent.seconds);
  const flood = {
    target: withoutBearer(gatehouse),
    asks: floodAsks(gatehouse.password),
    connections: FLOOD_CONNECTIONS,
    // Around the list: it ends with the first answer after its time.
    measureMs: list.measureMs + list.warmUpMs + 2_000,
    serverPid: gatehouse.pid,
  };
  await generator.load(list);
  const rounds: FloodRound[] = [];
  for (let round = 1; round <= extent.rounds; round++) {
    note(`round ${round}, node list alone, then while ${FLOOD_CONNECTIONS} connections sign in`);
    const alone = await generator.load(list);
    const ended = { first: '' };
    const [flooded, report] = await Promise.all([
      generator.load(list).finally(() => (ended.first ||= 'list')),
      flooder.signIns(flood).finally(() => (ended.first ||= 'flood')),
    ]);
    if (ended.first !== 'list') throw new Error('the flood ended before the list was measured');
    rounds.push({ alone, flooded, flood: report });
  }
  return rounds;
}

/** Below 200 a second: refusals beyond it wait for their turn, and the wait would hide what is measured. */
const CLIENT_PAUSE_MS = 6;

function measureToldApart(parts: SignInBench, samples: number): Promise<ToldApart> {
  parts.note(`${samples} sign-ins each with a known and with an unknown name`);
  return tellApart(parts, toldApartAsks(samples, parts.gatehouse.password), { status: 400 });
}

function measureClientsToldApart(parts: SignInBench, samples: number): Promise<ToldApart> {
  parts.note(`${samples} wrong client secrets each with a known and with an unknown client`);
  return tellApart(parts, clientsToldApartAsks(samples), { status: 401, pauseMs: CLIENT_PAUSE_MS });
}

async function tellApart(
  { gatehouse, generator }: SignInBench,
  asks: readonly ToldApartAsk[],
  how: { readonly status: number; readonly pauseMs?: number },
): Promise<ToldApart> {
  const { latenciesMs } = await generator.samples({
    ...how,
    target: withoutBearer(gatehouse),
    asks: asks.map(({ ask }) => ask),
  });
  const of = (isUnknown: boolean): number[] => latenciesMs.filter((_, index) => asks[index]?.isUnknown === isUnknown);
  return { known: of(false), unknown: of(true) };
}

/** Each round's sign-ins give the sessions that are refreshed, and the refreshes give the tokens that are first used. */
async function measureRates(
  parts: SignInBench,
): Promise<Pick<SignInResults, 'signIns' | 'bcryptPerCore' | 'refreshes' | 'bearers'>> {
  const { extent, note } = parts;
  const signIns: SignInReport[] = [];
  const bcryptPerCore: number[] = [];
  const refreshes: RefreshReport[] = [];
  const bearers: BearerRound[] = [];
  for (let round = 1; round <= extent.rounds; round++) {
    note(`round ${round}, sign-ins, refreshes, bearers`);
    const { refreshTokens, ...made } = await signInFor(parts);
    bcryptPerCore.push(await measureBcrypt());
    const { accessTokens, ...refreshed } = await refreshAll(parts, refreshTokens);
    signIns.push({ ...made, refreshTokens: [] }); // tokens are for no output
    refreshes.push({ ...refreshed, accessTokens: [] });
    bearers.push(await useBearers(parts, accessTokens));
  }
  return { signIns, bcryptPerCore, refreshes, bearers };
}

const COMPARES = 20;

/** In this process, which has nothing else to do: the nodes of its simulated cluster do not change. */
async function measureBcrypt(): Promise<number> {
  const before = process.cpuUsage();
  for (let compare = 0; compare < COMPARES; compare++) await compareWithHash('made-up', dummyHash(BENCH_HASH_COST));
  const { user, system } = process.cpuUsage(before);
  return COMPARES / ((user + system) / 1e6);
}

function signInFor({ gatehouse, generator, extent }: SignInBench): Promise<SignInReport> {
  return generator.signIns({
    target: withoutBearer(gatehouse),
    asks: rightAsks(gatehouse.password),
    connections: SIGN_IN_CONNECTIONS,
    measureMs: extent.seconds * 1_000,
    serverPid: gatehouse.pid,
  });
}

function refreshAll(
  { gatehouse, generator, extent }: SignInBench,
  refreshTokens: readonly string[],
): Promise<RefreshReport> {
  return generator.refreshes({
    target: withoutBearer(gatehouse),
    ask: tokenAsk({ grant_type: 'refresh_token' }),
    refreshTokens: refreshTokens.slice(0, MOST_SESSIONS),
    rotations: ROTATIONS,
    connections: REFRESH_CONNECTIONS,
    measureMs: extent.seconds * 1_000,
    serverPid: gatehouse.pid,
  });
}

/** Whole requests, so more than the check: one node, and the version, which asks for no token. */
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

const withoutBearer = ({ target }: Gatehouse) => ({ port: target.port, headers: {} });
