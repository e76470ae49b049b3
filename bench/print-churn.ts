import type { ChurnResults } from './churn.ts';
import { count, number, percent, table } from './table.ts';

/** The list while nodes change, as text. */
export function printChurn({ nodes, cells }: ChurnResults): string {
  const rows = cells.map(({ coding, perSecond, changesPerSecond, load, loopDelayMs }) => {
    const calm = cells.find((cell) => cell.coding === coding && cell.perSecond === 0);
    return [
      `${coding}, ${count(perSecond)} updates a second`,
      number(changesPerSecond),
      number(load.requestsPerSecond),
      calm ? percent(load.requestsPerSecond / calm.load.requestsPerSecond) : '–',
      number(load.p50Ms),
      number(load.p99Ms),
      percent(load.serverShare),
      number(loopDelayMs),
    ];
  });
  const head = ['', 'updates/s', 'requests/s', 'kept', 'p50 ms', 'p99 ms', 'its CPU', 'loop delay p99 ms'];
  return table(`List of ${count(nodes)} nodes on 8 connections while nodes change`, head, rows);
}
