import { expect, test } from 'vitest';
import { drawCharts } from '../../../bench/curve.ts';

const lines = [
  { name: 'one', points: [10, 100, 1_000].map((x) => ({ x, y: 10_000 / x })) },
  { name: 'none', points: [{ x: 10, y: Number.NaN }] },
];

test('draws a point a power of ten apart at equal steps on both axes', () => {
  const [, points] = /<polyline points="([^"]*)"/.exec(drawCharts([{ title: 'a', lines }], 'nodes')) ?? [];
  expect(points).toBe('70,40 280,147.5 490,255');
});
