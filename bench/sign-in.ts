import type { Bench } from './bench.ts';
import type { Ask } from './load/connection.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_CLIENT, BENCH_USERS, fourDigits, signInAsk, startGatehouse, withoutBearer } from './peers/gatehouse.ts';
import { FLOOD_CONNECTIONS, type FloodRound, floodTable, measureFloods } from './sign-in-floods.ts';
import { measureRates, printRates, type RateResults, type SignInBench } from './sign-in-rates.ts';
import { median, quantile, welchT } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

export interface SignInResults extends RateResults {
  readonly nodes: number;
  readonly floods: readonly FloodRound[];
  /** Sign-ins with a wrong password. */
  readonly toldApart: ToldApart;
  /** Introspections with a wrong client secret. */
  readonly clientsToldApart: ToldApart;
}

/** The milliseconds of each request, by whether the name exists. */
interface ToldApart {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

/**
 * Targets for the difference between unknown and known names (R-03). `t` is promised for this many samples of each, and means little
 * with fewer.
 */
const TOLD_APART = { medianMs: 3, t: 4.5, tSamples: 2000 } as const;

/**
 * The limits by user and by address are switched off. They would refuse a flood before it costs anything, but we measure the password
 * checks and their queue. Each connection has an address of its own, so the queue has to serve them alternately.
 */
export const WITHOUT_THROTTLE = {
  authenticateRateLimiterMaxTries: 1_000_000,
  authenticateRateLimiterDuration: '1s',
  addressRateLimiterMaxTries: 1_000_000,
  addressRateLimiterDuration: '1s',
  clientRateLimiterMaxTries: 1_000_000,
  clientAddressRateLimiterMaxTries: 1_000_000,
  clientRateLimiterDuration: '1s',
  trustedProxies: [{ cidr: '127.0.0.0/8' }],
};

/**
 * Measures everything with one Gatehouse, on the smallest of the requested clusters, because other work on the machine delays its list
 * most.
 */
export async function measureSignIn(bench: Bench): Promise<SignInResults> {
  const { nodes, samples } = bench.options;
  const cluster = await startSimulated(nodes[0] ?? 1);
  const options = { ...cluster, name: 'sign-in', settings: { authentication: WITHOUT_THROTTLE } };
  const parts = { ...bench, gatehouse: await startGatehouse(bench.children, options) };
  const { gatehouse } = parts;
  const flood = {
    target: withoutBearer(gatehouse),
    asks: floodAsks(gatehouse.password),
    connections: FLOOD_CONNECTIONS,
    serverPid: gatehouse.pid,
  };
  const floods = await measureFloods(bench, gatehouse, (flooder, measureMs) =>
    flooder.signIns({ ...flood, measureMs }),
  );
  const toldApart = await measureToldApart(parts, samples);
  const clientsToldApart = await measureClientsToldApart(parts, samples);
  const rates = await measureRates(parts);
  await parts.gatehouse.stop();
  await cluster.stop();
  return { nodes: cluster.nodeNames.length, floods, toldApart, clientsToldApart, ...rates };
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
    floodTable(results.nodes, results.floods),
    toldApartTable('Sign-ins with a wrong password', 'sign-ins', results.toldApart),
    toldApartTable('Introspections with a wrong client secret', 'requests', results.clientsToldApart),
    printRates(results),
  ].join('\n');
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
