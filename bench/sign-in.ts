import { type Bench, listPlan } from './bench.ts';
import type { Ask } from './load/connection.ts';
import { startGenerator } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import type { SignInReport } from './load/sign-ins.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_CLIENT, BENCH_USERS, fourDigits, signInAsk, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { measureRates, printRates, type RateResults, type SignInBench } from './sign-in-rates.ts';
import { median, medianBy, quantile, welchT } from './statistics.ts';
import { count, number, percent, table, verdict } from './table.ts';

export interface SignInResults extends RateResults {
  readonly nodes: number;
  readonly floods: readonly FloodRound[];
  /** Sign-ins with a wrong password. */
  readonly toldApart: ToldApart;
  /** Introspections with a wrong client secret. */
  readonly clientsToldApart: ToldApart;
}

/** The node list alone, and then while connections sign in. */
interface FloodRound {
  readonly alone: LoadReport;
  readonly flooded: LoadReport;
  readonly flood: SignInReport;
}

/** The milliseconds of each request, by whether the name exists. */
interface ToldApart {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

/** Targets for the node list while 64 connections sign in, compared with the list without them (R-02). */
const FLOODED_LIST = { keptShare: 0.6, p99Ms: 50 } as const;

/** The statuses that a flood of sign-ins may get (R-02). */
const FLOOD_STATUSES: readonly string[] = ['200', '400', '429'];

/**
 * Targets for the difference between unknown and known names (R-03). `t` is promised for this many samples of each, and means little
 * with fewer.
 */
const TOLD_APART = { medianMs: 3, t: 4.5, tSamples: 2000 } as const;

/**
 * The limits by user and by address are switched off. They would refuse a flood before it costs anything, but we measure the password
 * checks and their queue. Each connection has an address of its own, so the queue has to serve them alternately.
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

/**
 * Measures everything with one Gatehouse, on the smallest of the requested clusters, because other work on the machine delays its list
 * most.
 */
export async function measureSignIn(bench: Bench): Promise<SignInResults> {
  const { nodes, samples } = bench.options;
  const cluster = await startSimulated(nodes[0] ?? 1);
  const options = { ...cluster, name: 'sign-in', settings: { authentication: AUTHENTICATION } };
  const parts = { ...bench, gatehouse: await startGatehouse(bench.children, options) };
  const floods = await measureFloods(parts);
  const toldApart = await measureToldApart(parts, samples);
  const clientsToldApart = await measureClientsToldApart(parts, samples);
  const rates = await measureRates(parts);
  await parts.gatehouse.stop();
  await cluster.stop();
  return { nodes: cluster.nodeNames.length, floods, toldApart, clientsToldApart, ...rates };
}

/**
 * Measures the list alternately alone and during a flood. The flood comes from another process, so that an idle process times the list.
 */
async function measureFloods({ gatehouse, generator, children, options, note }: SignInBench): Promise<FloodRound[]> {
  const flooder = startGenerator(children);
  const list = listPlan(gatehouse, 'gzip', options.seconds);
  const flood = {
    target: withoutBearer(gatehouse),
    asks: floodAsks(gatehouse.password),
    connections: FLOOD_CONNECTIONS,
    // The flood lasts longer than the measurement of the list, which ends with the first answer after its time.
    measureMs: list.measureMs + list.warmUpMs + 2_000,
    serverPid: gatehouse.pid,
  };
  await generator.load(list);
  const rounds: FloodRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
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

/** This pause keeps the rate below 200 a second. Faster refusals would be delayed, which would hide the time to be measured. */
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

/** An unknown name that is as long as a user's, so that only the answer can tell them apart. */
const unknownName = (index: number): string => `noone-${fourDigits(index)}`;

/** A wrong password that is as long as the right one. */
const wrong = (password: string): string => 'x'.repeat(password.length);

/** Requests for each user in this order: a wrong password, an unknown name, the right password. */
export const floodAsks = (password: string): Ask[] =>
  BENCH_USERS.flatMap((name, index) => [
    signInAsk(name, wrong(password)),
    signInAsk(unknownName(index), password),
    signInAsk(name, password),
  ]);

/** A request with a name that exists, or with one that does not. */
interface ToldApartAsk {
  readonly ask: Ask;
  readonly isUnknown: boolean;
}

/** `pairs` requests with a known name and `pairs` with an unknown one, each with a wrong password. */
export const toldApartAsks = (pairs: number, password: string): readonly ToldApartAsk[] =>
  inTurns(pairs, (index) => ({
    known: signInAsk(BENCH_USERS[index % BENCH_USERS.length] ?? '', wrong(password)),
    unknown: signInAsk(unknownName(index), wrong(password)),
  }));

/**
 * `pairs` requests of a known client and `pairs` of an unknown one, each with a wrong secret. Each comes from a new address, through a
 * trusted proxy. From one address, the record of earlier failures would be found for the known client and created anew for the other.
 */
export const clientsToldApartAsks = (pairs: number): readonly ToldApartAsk[] =>
  inTurns(pairs, (index) => ({
    known: introspectAsk(BENCH_CLIENT.client_id, 2 * index),
    unknown: introspectAsk(unknownName(index).slice(-BENCH_CLIENT.client_id.length), 2 * index + 1),
  }));

const introspectAsk = (client_id: string, from: number): Ask => ({
  method: 'POST',
  path: '/oauth/introspect',
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'x-forwarded-for': `2001:db8:0:${fourDigits(from)}::1`,
  },
  body: new URLSearchParams({ client_id, client_secret: wrong(BENCH_CLIENT.client_secret), token: 'x' }).toString(),
});

/** The order within a pair alternates, so that the after-effects of the first request fall on both kinds alike. */
function inTurns(
  pairs: number,
  pair: (index: number) => { readonly known: Ask; readonly unknown: Ask },
): ToldApartAsk[] {
  return Array.from({ length: pairs }, (_, index) => {
    const asks = pair(index);
    const known = { ask: asks.known, isUnknown: false };
    const unknown = { ask: asks.unknown, isUnknown: true };
    return index % 2 === 0 ? [known, unknown] : [unknown, known];
  }).flat();
}

/** The results of sign-ins as text: tables with their targets. */
export function printSignIn(results: SignInResults): string {
  return [
    'Sign-ins: bcrypt cost 10. Limits by user and address are raised out of the way, and each connection has an address of its own',
    'through a trusted proxy: what is measured are the gate and the compares, not the throttle.',
    '',
    floodTable(results),
    toldApartTable('Sign-ins with a wrong password', 'sign-ins', results.toldApart),
    toldApartTable('Introspections with a wrong client secret', 'requests', results.clientsToldApart),
    printRates(results),
  ].join('\n');
}

function floodTable({ nodes, floods }: SignInResults): string {
  const { keptShare, p99Ms } = FLOODED_LIST;
  const kept = medianBy(floods, ({ alone, flooded }) => flooded.requestsPerSecond / alone.requestsPerSecond);
  const p99 = medianBy(floods, ({ flooded }) => flooded.p99Ms);
  const row = (name: string, of: 'alone' | 'flooded'): string[] => [
    name,
    number(medianBy(floods, (round) => round[of].requestsPerSecond)),
    number(medianBy(floods, (round) => round[of].p50Ms)),
    number(medianBy(floods, (round) => round[of].p99Ms)),
  ];
  return [
    table(
      `List of ${count(nodes)} nodes, gzip, on 8 connections, beside 64 connections that sign in (R-02)`,
      ['', 'requests/s', 'p50 ms', 'p99 ms'],
      [row('alone', 'alone'), row('flooded', 'flooded')],
    ),
    `Kept of its requests: ${percent(kept)}, target ≥ ${percent(keptShare)}: ${verdict(kept >= keptShare)}. p99 flooded, target ≤ ${p99Ms} ms: ${verdict(p99 <= p99Ms)}.`,
    answersLine(floods),
    '',
  ].join('\n');
}

function answersLine(floods: readonly FloodRound[]): string {
  const totals = new Map<string, number>();
  for (const { flood } of floods)
    for (const [status, times] of Object.entries(flood.statuses)) totals.set(status, (totals.get(status) ?? 0) + times);
  const texts = [...totals].sort().map(([status, times]) => `${status} ${count(times)} times`);
  const isMet = [...totals.keys()].every((status) => FLOOD_STATUSES.includes(status));
  return `The sign-ins were answered ${texts.join(', ')}; only ${FLOOD_STATUSES.join(', ')} are good: ${verdict(isMet)}.`;
}

function toldApartTable(what: string, unit: string, { known, unknown }: ToldApart): string {
  const row = (name: string, values: readonly number[]): string[] => [
    name,
    count(values.length),
    number(median(values)),
    number(quantile(values, 0.99)),
  ];
  const apart = Math.abs(median(known) - median(unknown));
  const t = Math.abs(welchT(known, unknown));
  const enough = Math.min(known.length, unknown.length) >= TOLD_APART.tSamples;
  const target = `target < ${TOLD_APART.t} over ${count(TOLD_APART.tSamples)} of each (--samples)`;
  return [
    table(
      `${what}, one after the other (R-03)`,
      ['name', unit, 'p50 ms', 'p99 ms'],
      [row('known', known), row('unknown', unknown)],
    ),
    `Medians apart: ${number(apart)} ms, target ≤ ${TOLD_APART.medianMs} ms: ${verdict(apart <= TOLD_APART.medianMs)}. Welch's t: ${number(t)}, ${target}${enough ? `: ${verdict(t < TOLD_APART.t)}` : ''}.`,
    '',
  ].join('\n');
}
