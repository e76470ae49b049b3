import { count, number, table, verdict } from './table.ts';
import { LONGEST_TURN_MS } from './targets.ts';
import type { TurnResults } from './turns.ts';

/** The longest turns as text: a table for each size, judged by processor time. */
export const printTurns = (results: readonly TurnResults[]): string => results.map(printSize).join('\n');

function printSize({ nodes, pods, steps }: TurnResults): string {
  const rows = steps.map(({ name, longestCpuMs, longestOwnMs, longestMs, longestGcMs, gcKind }) => [
    name,
    number(longestCpuMs),
    number(longestOwnMs),
    number(longestMs),
    `${gcKind} ${number(longestGcMs)}`.trim(),
    `≤ ${LONGEST_TURN_MS}`,
    verdict(longestCpuMs <= LONGEST_TURN_MS),
  ]);
  const title = `Longest turn of the event loop, ${count(nodes)} nodes of 12 kB and ${count(pods)} pods on the simulated API server`;
  return table(title, ['', 'CPU ms', 'without GC', 'clock ms', 'longest GC ms', 'target', ''], rows);
}
