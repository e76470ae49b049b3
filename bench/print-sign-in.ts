import type { FloodRound, SignInResults, ToldApart } from './results.ts';
import { median, quantile, ratios, welchT } from './statistics.ts';
import { count, number, percent, table, verdict } from './table.ts';
import { BEARER_P99_MS, FLOOD_STATUSES, FLOODED_LIST, PER_CORE, TOLD_APART } from './targets.ts';

/** The results of sign-ins as text: tables with their targets. */
export function printSignIn(results: SignInResults): string {
  return [
    'Sign-ins: bcrypt cost 10. Limits by user and address are raised out of the way, and each connection has an address of its own',
    'through a trusted proxy: what is measured are the gate and the compares, not the throttle.',
    '',
    floodTable(results),
    toldApartTable('Sign-ins with a wrong password', 'sign-ins', results.toldApart),
    toldApartTable('Introspections with a wrong client secret', 'requests', results.clientsToldApart),
    rateTable(results),
    bearerTable(results),
  ].join('\n');
}

const medianBy = <T>(rounds: readonly T[], value: (round: T) => number): number => median(rounds.map(value));

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

/** Per core that the server used: time of processors waits for nobody, and the machine may be busy with something else. */
function rateTable({ signIns, bcryptPerCore, refreshes }: SignInResults): string {
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

function bearerTable({ bearers }: SignInResults): string {
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
