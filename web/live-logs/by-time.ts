import type { Row } from './kept-rows.ts';
import type { StreamLine } from './stream-record.ts';

/**
 * Rows that have come together, with the lines between two notes in the order of their times: the server sends those of several containers as they
 * arrive. The lines of one container stay in their order, whatever their times are.
 */
export function byTime(rows: readonly Row[]): readonly Row[] {
  const sorted: Row[] = [];
  let run: StreamLine[] = [];
  for (const row of rows) {
    if (row.type === 'line') run.push(row);
    else {
      sorted.push(...inOrder(run), row);
      run = [];
    }
  }
  return [...sorted, ...inOrder(run)];
}

function inOrder(lines: readonly StreamLine[]): readonly StreamLine[] {
  const latest = new Map<string, number>();
  const timed = lines.map((line) => {
    const container = `${line.pod}/${line.container}`;
    const before = latest.get(container) ?? Number.NEGATIVE_INFINITY;
    const time = microsecondsOf(line.time);
    // If a clock was set back, or a line has no time, the time of the line before counts.
    const at = time > before ? time : before;
    latest.set(container, at);
    return { line, at };
  });
  return timed.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ line }) => line);
}

/** Since 1970. Exact enough for the eye, and a whole number that a double can hold. */
function microsecondsOf(time: string): number {
  const digits = /:\d\d\.(\d+)/.exec(time)?.[1] ?? '';
  return Math.floor(Date.parse(time) / 1_000) * 1e6 + Number(digits.slice(0, 6).padEnd(6, '0'));
}
