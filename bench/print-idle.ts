import type { IdleResults, IdleUse } from './idle.ts';
import { median } from './statistics.ts';
import { count, megabytes, number, table } from './table.ts';

/** What being there costs, as text. No target: these are figures to know. */
export function printIdle({ one, two, connected, connections }: IdleResults): string {
  const bytes = (uses: readonly IdleUse[]): number => median(uses.map((use) => use.bytes));
  const row = (name: string, uses: readonly IdleUse[], than?: readonly IdleUse[]): string[] => [
    name,
    megabytes(bytes(uses)),
    than ? megabytes(bytes(uses) - bytes(than)) : '–',
    `${number(median(uses.map((use) => use.share)) * 100)} %`,
  ];
  const rows = [
    row('nodes only', one),
    row('nodes and pods, no pod is there', two, one),
    row(`… and ${count(connections)} idle keep-alive connections`, connected, two),
  ];
  return table('An idle process: 10 nodes', ['', 'resident', 'more', 'of a core'], rows);
}
