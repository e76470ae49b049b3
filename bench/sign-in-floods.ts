import { type Bench, listPlan } from './bench.ts';
import { type Generator, startGenerator } from './load/generator.ts';
import type { LoadReport } from './load/load.ts';
import type { Gatehouse } from './peers/gatehouse.ts';
import { medianBy } from './statistics.ts';
import { count, number, percent, table, verdict } from './table.ts';

/** The node list alone, and then while connections sign in. */
export interface FloodRound {
  readonly alone: LoadReport;
  readonly flooded: LoadReport;
  /** How many sign-ins ended with each status. */
  readonly flood: { readonly statuses: Readonly<Record<string, number>> };
}

/** Targets for the node list while 64 connections sign in, compared with the list without them. */
const FLOODED_LIST = { keptShare: 0.6, p99Ms: 50 } as const;

/** The statuses that a flood of sign-ins may get. */
const FLOOD_STATUSES: readonly string[] = ['200', '400', '429'];

export const FLOOD_CONNECTIONS = 64;

/** Begins a flood of this length from the given process. */
type Flood = (flooder: Generator, measureMs: number) => Promise<FloodRound['flood']>;

/**
 * Measures the list alternately alone and during a flood. The flood comes from another process, so that an idle process times the list.
 */
export async function measureFloods(
  { generator, children, options, note }: Bench,
  gatehouse: Gatehouse,
  flood: Flood,
): Promise<FloodRound[]> {
  const flooder = startGenerator(children);
  const list = listPlan(gatehouse, 'gzip', options.seconds);
  // The flood lasts longer than the measurement of the list, which ends with the first answer after its time.
  const measureMs = list.measureMs + list.warmUpMs + 2_000;
  await generator.load(list);
  const rounds: FloodRound[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    note(`round ${round}, node list alone, then while ${FLOOD_CONNECTIONS} connections sign in`);
    const alone = await generator.load(list);
    const ended = { first: '' };
    const [flooded, report] = await Promise.all([
      generator.load(list).finally(() => (ended.first ||= 'list')),
      flood(flooder, measureMs).finally(() => (ended.first ||= 'flood')),
    ]);
    if (ended.first !== 'list') throw new Error('the flood ended before the list was measured');
    rounds.push({ alone, flooded, flood: report });
  }
  return rounds;
}

/** The list beside a flood as text, with the targets of R-02. */
export function floodTable(nodes: number, floods: readonly FloodRound[], how = 'sign in'): string {
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
      `List of ${count(nodes)} nodes, gzip, on 8 connections, beside ${FLOOD_CONNECTIONS} connections that ${how} (R-02)`,
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
