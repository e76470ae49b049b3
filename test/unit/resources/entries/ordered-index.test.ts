import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import { ORDERS, OrderedIndex } from '../../../../src/resources/entries/ordered-index.ts';
import { atOnce as finish } from '../../../../src/runtime/time-slices.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';
import { makeNode, toNodeEntry } from '../node-objects.ts';

const made = new Map<string, Entry>();

/** An object of 5 kB, so that leaves are full by their objects, as they are of nodes; each is made once. */
function entry(name: number, day = 1, filler = 4_800): Entry {
  const id = [name, day, filler].join();
  const known = made.get(id);
  if (known) return known;
  const creationTimestamp = `2026-01-${10 + day}T00:00:00Z`;
  const annotations = { filler: 'x'.repeat(filler) };
  const one = toNodeEntry(makeNode(`node-${String(name).padStart(4, '0')}`, { creationTimestamp, annotations }));
  made.set(id, one);
  return one;
}
const entries = (length: number, from = 0) => Array.from({ length }, (_, at) => entry(from + at));

const NAMES = 1_500;
const step = fc.record({ name: fc.nat(NAMES), day: fc.nat(9), isGone: fc.nat(3).map((of) => of === 0) });
/** A cluster of a leaf or two, or of twenty and more. */
const firstOf = ({ upTo, isLargest }: Sizes) => {
  const large = fc.uniqueArray(fc.nat(NAMES), upTo(700, 500));
  return isLargest ? large : fc.oneof(fc.uniqueArray(fc.nat(NAMES), upTo(60)), large);
};

const namesOf = (index: OrderedIndex): string[] => index.leaves.flatMap((leaf) => leaf.entries.map((one) => one.key));
const sizesOf = (index: OrderedIndex): number[] => index.leaves.map((leaf) => leaf.entries.length);

describe.each(['name', 'creationTimestamp'] as const)('the order by %s', (by) => {
  test('is that of a sort, in leaves of 1 to 32, whether nodes came one by one or all at once', () => {
    const largest = new Largest(`the order by ${by}`, 'leaves');
    const propertyOf = (sizes: Sizes) =>
      fc.property(firstOf(sizes), fc.array(step, sizes.upTo(400)), (names, steps) => {
        const known = new Map<string, Entry>();
        const atOnce = new OrderedIndex(ORDERS[by]);
        const oneByOne = new OrderedIndex(ORDERS[by]);
        const put = (one: Entry): void => {
          for (const index of [atOnce, oneByOne]) index.put(one, known.get(one.key));
          known.set(one.key, one);
        };
        const remove = (one: Entry): void => {
          for (const index of [atOnce, oneByOne]) index.remove(known.get(one.key) ?? one);
          known.delete(one.key);
        };
        for (const name of names) {
          const one = entry(name, name % 10);
          oneByOne.put(one, undefined);
          known.set(one.key, one);
        }
        finish(atOnce.fillInSteps([...known.values()]));
        for (const index of [atOnce, oneByOne]) largest.see(index.leaves.length);
        for (const { name, day, isGone } of steps) isGone ? remove(entry(name, day)) : put(entry(name, day));
        const sorted = [...known.values()].sort(ORDERS[by]).map(({ key }) => key);
        for (const index of [atOnce, oneByOne]) {
          expect(namesOf(index)).toEqual(sorted);
          expect(sizesOf(index).filter((size) => size < 1 || size > 32)).toEqual([]);
        }
      });
    checkSizes(propertyOf, { cases: 40, short: 15 });
    largest.expectAtLeast(Math.ceil(700 / 32));
  });
});

describe('the order', () => {
  test('of creation is newest first, and of one second by name', () => {
    const index = new OrderedIndex(ORDERS.creationTimestamp);
    finish(index.fillInSteps([entry(1, 1), entry(3, 2), entry(2, 2), entry(4, 1)]));
    expect(namesOf(index)).toEqual(['node-0003', 'node-0002', 'node-0004', 'node-0001']);
    expect(ORDERS.creationTimestamp(entry(1), entry(1))).toBe(0);
    expect(ORDERS.name(entry(1), entry(1))).toBe(0);
  });
});

test('a copy has the same leaves, and each of the two is changed apart', () => {
  const index = new OrderedIndex(ORDERS.name);
  finish(index.fillInSteps(entries(100)));
  const copy = index.copy();
  expect(copy.leaves).toEqual(index.leaves);
  copy.remove(entry(99));
  index.put(entry(100), undefined);
  expect([namesOf(copy)[0], namesOf(copy).length]).toEqual(['node-0098', 99]);
  expect([namesOf(index)[0], namesOf(index).length]).toEqual(['node-0100', 101]);
});

describe('filling the index', () => {
  test('leaves room in every leaf, and nothing of what was there', () => {
    const index = new OrderedIndex(ORDERS.name);
    index.put(entry(9_999), undefined);
    finish(index.fillInSteps(entries(100)));
    expect(sizesOf(index)).toEqual([24, 24, 24, 24, 4]);
    finish(index.fillInSteps([]));
    expect(index.leaves).toEqual([]);
  });
});

describe('the steps of filling the index', () => {
  const stepsFor = (all: readonly Entry[]): number => {
    const index = new OrderedIndex(ORDERS.name);
    const steps = index.fillInSteps(all);
    let count = 0;
    while (!steps.next().done) count++;
    expect(namesOf(index)).toEqual(
      all
        .map(({ key }) => key)
        .toSorted()
        .reverse(),
    );
    return count;
  };
  /** 512 a step: to sort them, and to merge them two by two and then all; a leaf of 24 is another step. */
  const STEPS = 4 + 4 + 4 + Math.ceil(2_048 / 24);

  test.each([
    ['in the order', (at: number) => 2_048 - at],
    ['in the reverse of it', (at: number) => at],
    ['in turns of the runs', (at: number) => (at % 512) * 4 + Math.floor(at / 512)],
  ])('are of 512 entries, which came %s', (_, nameAt) => {
    expect(stepsFor(Array.from({ length: 2_048 }, (_entry, at) => entry(nameAt(at))))).toBe(STEPS);
  });
});

/** By falling name, so that the first leaf has the last names. */
function filled(count: number): { index: OrderedIndex; removeFrom(leaf: number, count: number): void } {
  const index = new OrderedIndex(ORDERS.name);
  finish(index.fillInSteps(entries(count)));
  const removeFrom = (leaf: number, times: number): void => {
    for (let left = times; left > 0; left--) index.remove(index.leaves[leaf]?.entries[0] as Entry);
  };
  return { index, removeFrom };
}

describe('the leaves of objects of 1,000 bytes', () => {
  const small = (name: number): Entry => entry(name, 1, 1_000 - entry(name, 1, 0).encoded.length);
  const bytesOf = (index: OrderedIndex): number[] => index.leaves.map(({ length }) => length);

  test('are full at 128 KiB, however many objects that is', () => {
    const index = new OrderedIndex(ORDERS.name);
    for (let name = 0; name < 131; name++) index.put(small(name), undefined);
    expect(sizesOf(index)).toEqual([131]);
    index.put(small(131), undefined);
    expect(sizesOf(index)).toEqual([66, 66]);
  });

  test('are filled to 96 KiB when they are made all at once', () => {
    const index = new OrderedIndex(ORDERS.name);
    finish(index.fillInSteps(Array.from({ length: 200 }, (_, name) => small(name))));
    expect(sizesOf(index)).toEqual([98, 98, 4]);
    expect(bytesOf(index)).toEqual([98 * 1_001, 98 * 1_001, 4 * 1_001]);
  });

  test('are one instead of two neighbours that have 64 KiB together', () => {
    const index = new OrderedIndex(ORDERS.name);
    finish(index.fillInSteps(Array.from({ length: 160 }, (_, name) => small(name))));
    const removed = (count: number): void => {
      for (let left = count; left > 0; left--) index.remove(index.leaves[0]?.entries[0] as Entry);
    };
    removed(94);
    expect(sizesOf(index)).toEqual([4, 62]);
    removed(1);
    expect(sizesOf(index)).toEqual([65]);
  });

  test('of more than 32 that grow are cut in two', () => {
    const index = new OrderedIndex(ORDERS.name);
    finish(index.fillInSteps(Array.from({ length: 40 }, (_, name) => small(name))));
    index.put(entry(7, 1, 100_000), small(7));
    expect(sizesOf(index)).toEqual([20, 20]);
  });
});

describe('the leaves', () => {
  test('are cut in two by the thirty-third entry', () => {
    const { index } = filled(24);
    for (const one of entries(8, 24)) index.put(one, undefined);
    expect(sizesOf(index)).toEqual([32]);
    index.put(entry(40), undefined);
    expect(sizesOf(index)).toEqual([16, 17]);
  });

  test('are one instead of two neighbours that have sixteen entries together', () => {
    const { index, removeFrom } = filled(72);
    removeFrom(1, 16);
    expect(sizesOf(index)).toEqual([24, 8, 24]);
    removeFrom(0, 15);
    expect(sizesOf(index)).toEqual([9, 8, 24]);
    const untouched = index.leaves[2];
    removeFrom(0, 1);
    expect(sizesOf(index)).toEqual([16, 24]);
    expect(index.leaves[1]).toBe(untouched);
    expect(namesOf(index)).toEqual(namesOf(index).toSorted().reverse());
  });

  test('keep a thin one beside a full one', () => {
    const { index, removeFrom } = filled(48);
    removeFrom(0, 23);
    expect(sizesOf(index)).toEqual([1, 24]);
  });

  test('lose an empty one, and the thin one after it keeps its bytes', () => {
    const { index, removeFrom } = filled(48);
    removeFrom(0, 23);
    removeFrom(1, 21);
    expect(sizesOf(index)).toEqual([1, 3]);
    const thin = index.leaves[1];
    removeFrom(0, 1);
    expect(index.leaves).toEqual([thin]);
    expect(index.leaves[0]).toBe(thin);
    removeFrom(0, 3);
    expect(index.leaves).toEqual([]);
  });

  test('stay as they are when nothing of a name is there', () => {
    const { index } = filled(48);
    const before = index.leaves;
    index.remove(entry(999));
    expect(index.leaves).toBe(before);
  });

  test('that do not hold the entry are untouched by a put', () => {
    const { index } = filled(72);
    const [first, second, third] = index.leaves;
    index.put(entry(30), entry(30));
    expect(sizesOf(index)).toEqual([24, 24, 24]);
    expect([index.leaves[0], index.leaves[2]]).toEqual([first, third]);
    expect(index.leaves[0]).toBe(first);
    expect(index.leaves[1]).not.toBe(second);
    expect(index.leaves[2]).toBe(third);
  });
});
