import { expect, test } from 'vitest';
import { drawCharts } from '../../../bench/draw-charts.ts';

const lines = [
  { name: 'one', points: [10, 100, 1_000].map((x) => ({ x, y: 10_000 / x })) },
  { name: 'none', points: [{ x: 10, y: Number.NaN }] },
];

test('draws a point a power of ten apart at equal steps on both axes', () => {
  const [, points] = /<polyline points="([^"]*)"/.exec(drawCharts([{ title: 'a', lines }], 'nodes')) ?? [];
  expect(points).toBe('70,40 280,147.5 490,255');
});

test('names each power of ten and each x once, and leaves out a line without values', () => {
  const svg = drawCharts([{ title: 'a', lines }], 'nodes');
  const texts = [...svg.matchAll(/>([^<>\n]+)<\/text>/g)].map(([, text]) => text);
  expect(texts).toEqual(['a', '10', '100', '1,000', '10', '100', '1,000', 'nodes', 'one']);
});

test('puts charts one below the other', () => {
  const svg = drawCharts(
    [
      { title: 'a', lines },
      { title: 'b', lines },
    ],
    'nodes',
  );
  expect(svg).toContain('viewBox="0 0 620 600"');
  expect(svg.match(/translate\(0 \d+\)/g)).toEqual(['translate(0 0)', 'translate(0 300)']);
});
