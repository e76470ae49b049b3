import { describe, expect, it } from 'vitest';
import { byTime } from '../../../../web/live-logs/by-time.ts';
import { KeptRows, type Row } from '../../../../web/live-logs/kept-rows.ts';
import { KnownLines } from '../../../../web/live-logs/known-lines.ts';
import type { StreamLine } from '../../../../web/live-logs/stream-record.ts';

const at = (time: string, text: string, pod = 'a', container = 'c'): StreamLine => ({
  ...{ type: 'line', pod, container, text },
  time: time === '' ? '' : `2026-01-02T03:04:${time}Z`,
});

/** What of a second stream is new after a first one, of which only the lines from `kept` on are kept. */
function newAfter(first: readonly StreamLine[], second: readonly StreamLine[], kept = 0): readonly StreamLine[] {
  const known = new KnownLines();
  for (const line of first) known.isNew(line);
  const rows = new KeptRows({ rows: 100, size: 1e9 });
  rows.add(first.slice(kept));
  known.again(rows.blocks);
  return second.filter((line) => known.isNew(line));
}

describe('a stream that is opened again', () => {
  it('brings everything before, and nothing is left out of it', () => {
    const known = new KnownLines();
    const lines = [at('05', 'x'), at('05', 'x'), at('04', 'y')];
    expect(lines.filter((line) => known.isNew(line))).toEqual(lines);
  });

  it('brings lines that are known, and new ones', () => {
    const [a, b, c] = [at('05.000000001', 'a'), at('05.000000002', 'b'), at('05.000000003', 'c')];
    expect(newAfter([a, b], [a, b, c])).toEqual([c]);
    expect(newAfter([a, b], [c])).toEqual([c]);
    expect(newAfter([a, b], [])).toEqual([]);
  });

  it('brings a line again as often as it was written', () => {
    const a = at('05', 'again');
    expect(newAfter([a, a], [a, a, a])).toEqual([a]);
  });

  it('brings lines that are no longer kept', () => {
    const all = [at('01', 'a'), at('02', 'b'), at('03', 'c'), at('04', 'd')];
    expect(newAfter(all.slice(0, 3), all, 2)).toEqual([all[3]]);
    expect(newAfter(all.slice(0, 3), all, 3)).toEqual([all[3]]);
  });

  it('brings a line out of order in time only before the new ones', () => {
    const all = [at('05', 'stdout'), at('04', 'stderr'), at('06', 'new'), at('03', 'late')];
    expect(newAfter(all.slice(0, 2), all)).toEqual(all.slice(2));
  });

  it('brings lines of each container for itself, and of pods that are new', () => {
    const old = [at('05', 'x', 'a'), at('09', 'y', 'b')];
    const more = [at('06', 'x', 'a'), at('01', 'z', 'new'), at('01', 'z', 'a', 'side')];
    expect(newAfter(old, [...old, ...more])).toEqual(more);
  });

  it('brings a pod of the name of one that is gone as a new one', () => {
    const known = new KnownLines();
    known.isNew(at('05', 'x'));
    known.forget('a');
    known.again([]);
    expect(known.isNew(at('04', 'w'))).toBe(true);
  });
});

describe('rows that came together', () => {
  const texts = (rows: readonly Row[]): string[] =>
    byTime(rows).map((row) => (row.type === 'line' ? row.text : row.type));

  it('are in the order of their times over all containers', () => {
    expect(texts([at('05', 'a'), at('07', 'c'), at('06', 'b', 'b'), at('08', 'd', 'b')])).toEqual(['a', 'b', 'c', 'd']);
    expect(texts([at('05.1', 'b'), at('05.09', 'a', 'b')])).toEqual(['a', 'b']);
  });

  it('keep the order within a container, also when its clock was set back, and without times', () => {
    expect(texts([at('05', 'a'), at('03', 'b'), at('', 'c'), at('04', 'x', 'b')])).toEqual(['x', 'a', 'b', 'c']);
  });

  it('do not cross a note', () => {
    const note: Row = { type: 'note', event: 'gap', seconds: 1 };
    expect(texts([at('05', 'b'), note, at('01', 'a')])).toEqual(['b', 'note', 'a']);
  });
});
