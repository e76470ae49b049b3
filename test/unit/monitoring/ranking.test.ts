import { expect, test } from 'vitest';
import type { Series } from '../../../src/monitoring/prometheus.ts';
import { inRank, rankNodes } from '../../../src/monitoring/ranking.ts';

const of = (values: Readonly<Record<string, string>>): Series[] =>
  Object.entries(values).map(([node, value]) => ({ metric: { node }, value: [1, value] }));

test.each([
  ['desc', ['c', 'a', 'b', 'd']],
  ['asc', ['a', 'b', 'c', 'd']],
] as const)('CO-09 a ranking %s has equal values by name, and nodes without a value last', (order, nodes) => {
  const all = of({ a: '1', b: '1', c: '1', d: '1' });
  const ranking = { metric: 'm', order, page: 1, limit: 9 };
  expect(rankNodes(all, of({ c: '10', b: '9', a: '9' }), ranking)).toEqual({
    nodes,
    page: 1,
    totalPages: 1,
    totalItems: 4,
  });
});

test('CO-09 a metric has an element for each node of a ranking', () => {
  expect(inRank(of({ a: '1' }), ['b', 'a'])).toEqual([{ metric: { node: 'b' } }, ...of({ a: '1' })]);
});
