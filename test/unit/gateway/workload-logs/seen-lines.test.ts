import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../dev/cluster/seeded-random.ts';
import type { ReadLine } from '../../../../src/gateway/workload-logs/line-reader.ts';
import { SeenLines } from '../../../../src/gateway/workload-logs/seen-lines.ts';

const timeOf = (at: number): string => `2026-01-02T03:04:05.${String(at).padStart(9, '0')}Z`;
const line = (at: number, text = `line ${at}`): ReadLine => ({ time: timeOf(at), text, leftOut: 0 });
const textsOf = (seen: SeenLines, lines: readonly ReadLine[]): string[] =>
  lines.filter((one) => seen.isNew(one)).map(({ text }) => text);

describe('G-29 lines that come again', () => {
  test('are left out up to the one where the reader was', () => {
    const seen = new SeenLines();
    textsOf(seen, [line(1), line(2), line(3)]);
    expect(seen.from).toBe(timeOf(1));
    seen.again();
    expect(textsOf(seen, [line(2), line(3), line(4)])).toEqual(['line 4']);
  });

  test('are passed on as often as they were written, if they are equal and of one instant', () => {
    const seen = new SeenLines();
    textsOf(seen, [line(1, 'same'), line(1, 'same')]);
    seen.again();
    expect(textsOf(seen, [line(1, 'same'), line(1, 'same'), line(1, 'same')])).toEqual(['same']);
  });

  test('are told apart from new ones that a runtime wrote a moment out of order', () => {
    const seen = new SeenLines();
    textsOf(seen, [line(1), line(5)]);
    seen.again();
    expect(textsOf(seen, [line(1), line(5), line(4, 'from the other output'), line(6)])).toEqual([
      'from the other output',
      'line 6',
    ]);
  });

  test('are left out if they are older than all that is remembered', () => {
    const seen = new SeenLines();
    const all = Array.from({ length: 1_000 }, (_, at) => line(at));
    textsOf(seen, all);
    seen.again();
    expect(textsOf(seen, [...all, line(1_000)])).toEqual(['line 1000']);
  });

  test('are left out if more of one instant have come than are remembered', () => {
    const seen = new SeenLines();
    const all = Array.from({ length: 1_000 }, (_, at) => line(5, `text ${at}`));
    textsOf(seen, all);
    seen.again();
    expect(textsOf(seen, [...all, line(5, 'new'), line(6)])).toEqual(['new', 'line 6']);
  });

  test('of another file are new if they are newer', () => {
    const seen = new SeenLines();
    textsOf(seen, [line(1), line(2)]);
    seen.again();
    expect(textsOf(seen, [line(3), line(3), line(1, 'late')])).toEqual(['line 3', 'line 3', 'late']);
  });

  test('are compared by times with any number of digits', () => {
    const seen = new SeenLines();
    const short = { time: '2026-01-02T03:04:05Z', text: 'first', leftOut: 0 };
    textsOf(seen, [short, line(7)]);
    seen.again();
    expect(textsOf(seen, [short, line(7), line(8)])).toEqual(['line 8']);
  });

  test('never cost a line, wherever a reading breaks and begins again', () => {
    const random = seededRandom(7);
    const below = (limit: number): number => Math.floor(random.fraction() * limit);
    for (let round = 0; round < 200; round++) {
      const count = 1 + below(800);
      let at = 0;
      // Several lines of one instant, some of them equal, some a little out of order.
      const file = Array.from({ length: count }, () => {
        at += below(3);
        return line(Math.max(0, at - below(3)), `text ${below(3)}`);
      });
      const seen = new SeenLines();
      const passed: string[] = [];
      for (let read = 0; read < count; ) {
        const from = Math.max(0, read - 1 - below(400)); // the last line is always among them
        const to = Math.min(count, read + 1 + below(300));
        seen.again();
        passed.push(...textsOf(seen, file.slice(from, to)));
        read = to;
      }
      expect(passed).toEqual(file.map(({ text }) => text));
    }
  });
});
