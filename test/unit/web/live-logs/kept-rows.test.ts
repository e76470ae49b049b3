import { describe, expect, it } from 'vitest';
import { KeptRows, type Row } from '../../../../web/live-logs/kept-rows.ts';
import { fileText, type RowFilter, shownRows } from '../../../../web/live-logs/shown-rows.ts';
import type { StreamLine } from '../../../../web/live-logs/stream-record.ts';
import { patternOfText } from '../../../../web/logs/log-text.ts';

const line = (text: string, pod = 'a', container = 'c'): StreamLine => ({
  ...{ type: 'line', pod, container, time: '2026-01-02T03:04:05Z', text },
});
const lines = (from: number, to: number): StreamLine[] =>
  Array.from({ length: to - from }, (_, place) => line(`${from + place}`));
const textsOf = (kept: KeptRows): string[] =>
  kept.blocks.flatMap(({ rows }) => rows.map((row) => (row.type === 'line' ? row.text : row.type)));

describe('kept rows', () => {
  it('stay in their order, in blocks whose numbers never change', () => {
    const kept = new KeptRows({ rows: 1_000, size: 1e9 });
    kept.add(lines(0, 150));
    const before = kept.blocks;
    kept.add(lines(150, 260));
    expect(textsOf(kept)).toEqual(lines(0, 260).map(({ text }) => text));
    expect(kept.blocks.map(({ number, rows }) => [number, rows.length])).toEqual([
      [0, 100],
      [1, 100],
      [2, 60],
    ]);
    expect(kept.blocks[0]).toBe(before[0]);
    expect(before[1]?.rows).toHaveLength(50);
  });

  it('are the newest when there are too many', () => {
    const kept = new KeptRows({ rows: 250, size: 1e9 });
    for (let from = 0; from < 1_000; from += 10) kept.add(lines(from, from + 10));
    expect(kept.count).toBeLessThanOrEqual(250);
    expect(kept.count).toBeGreaterThan(150);
    expect(kept.dropped).toBe(1_000 - kept.count);
    expect(textsOf(kept)).toEqual(lines(kept.dropped, 1_000).map(({ text }) => text));
  });

  it('are the newest when they are too long', () => {
    const kept = new KeptRows({ rows: 1_000, size: 1_000_000 });
    for (let count = 0; count < 100; count++) kept.add([line('x'.repeat(64_000))]);
    expect(kept.count).toBeLessThanOrEqual(15);
    expect(kept.count + kept.dropped).toBe(100);
    expect(kept.isFull).toBe(false);
  });

  it('are full at their limits, and empty when they are cleared', () => {
    const kept = new KeptRows({ rows: 100, size: 1e9 });
    kept.add(lines(0, 99));
    expect(kept.isFull).toBe(false);
    kept.add(lines(99, 100));
    expect(kept.isFull).toBe(true);
    kept.clear();
    expect([kept.count, kept.blocks, kept.dropped, kept.isFull]).toEqual([0, [], 0, false]);
    kept.add(lines(0, 1));
    expect(kept.count).toBe(1);
  });
});

describe('shown rows', () => {
  const all: RowFilter = { wanted: undefined, hiddenPods: new Set(), hiddenContainers: new Set() };
  const rows: readonly Row[] = [
    line('Error one'),
    line('two', 'b'),
    line('error three', 'b', 'side'),
    { type: 'pod', event: 'left', pod: 'b', message: 'gone' },
    { type: 'note', event: 'gap', seconds: 3 },
  ];
  const shown = (filter: Partial<RowFilter>): number[] => {
    const kept = new KeptRows({ rows: 100, size: 1e9 });
    kept.add(rows);
    const [block] = kept.blocks;
    return block ? shownRows(block, { ...all, ...filter }).map((row) => rows.indexOf(row)) : [];
  };

  it('have the text, belong to the chosen pods and containers, or are notes about them', () => {
    expect(shown({})).toEqual([0, 1, 2, 3, 4]);
    expect(shown({ wanted: patternOfText('ERROR') })).toEqual([0, 2, 3, 4]);
    expect(shown({ wanted: patternOfText('.') })).toEqual([3, 4]);
    expect(shown({ hiddenPods: new Set(['b']) })).toEqual([0, 4]);
    expect(shown({ hiddenContainers: new Set(['c']) })).toEqual([2, 3, 4]);
  });

  it('are found once for a block and a filter', () => {
    const kept = new KeptRows({ rows: 100, size: 1e9 });
    kept.add(rows);
    const [block] = kept.blocks;
    const filter = { ...all, wanted: patternOfText('error') };
    expect(block && shownRows(block, filter)).toBe(block && shownRows(block, filter));
    expect(block && shownRows(block, { ...filter, wanted: undefined })).toBe(block?.rows);
  });

  it('are saved as text that no terminal obeys', () => {
    const kept = new KeptRows({ rows: 100, size: 1e9 });
    kept.add([line('\u001b[31mred'), ...rows.slice(3)]);
    expect(fileText(kept.blocks).join('')).toBe('2026-01-02T03:04:05Z a c ^[[31mred\n--- left b gone\n--- gap 3 s\n');
  });
});
