import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toNodeEntry } from '../../../src/nodes/node-entry.ts';
import { NODE_ORDERS, OrderedIndex } from '../../../src/nodes/ordered-index.ts';
import { makeNode } from './node-objects.ts';

const entry = (name: number, day: number) =>
  toNodeEntry(makeNode(`node-${name}`, { creationTimestamp: `2026-01-${10 + day}T00:00:00Z` }), undefined);

const entries = fc
  .uniqueArray(fc.record({ name: fc.nat(2_000), day: fc.nat(9) }), {
    selector: ({ name }) => name,
    maxLength: 300,
  })
  .map((nodes) => nodes.map(({ name, day }) => entry(name, day)));

const namesOf = (index: OrderedIndex): string[] => index.leaves.flatMap((leaf) => leaf.entries.map((one) => one.key));

describe.each(['name', 'creationTimestamp'] as const)('the order by %s', (by) => {
  test('is the same whether nodes came one by one or all at once', () => {
    fc.assert(
      fc.property(entries, entries, (first, later) => {
        const atOnce = new OrderedIndex(NODE_ORDERS[by]);
        const oneByOne = new OrderedIndex(NODE_ORDERS[by]);
        atOnce.fill(first);
        for (const one of first) oneByOne.put(one, undefined);
        expect(namesOf(atOnce)).toEqual(namesOf(oneByOne));
        const known = new Map(first.map((one) => [one.key, one]));
        for (const one of later) {
          atOnce.put(one, known.get(one.key));
          oneByOne.put(one, known.get(one.key));
        }
        expect(namesOf(atOnce)).toEqual(namesOf(oneByOne));
        expect(namesOf(atOnce).length).toBe(new Set([...first, ...later].map(({ key }) => key)).size);
      }),
    );
  });
});

describe('filling the index', () => {
  test('leaves room in every leaf, and nothing of what was there', () => {
    const index = new OrderedIndex(NODE_ORDERS.name);
    index.put(entry(9_999, 1), undefined);
    index.fill(Array.from({ length: 100 }, (_, name) => entry(name, 1)));
    expect(index.leaves.map((leaf) => leaf.entries.length)).toEqual([24, 24, 24, 24, 4]);
    index.fill([]);
    expect(index.leaves).toEqual([]);
  });
});
