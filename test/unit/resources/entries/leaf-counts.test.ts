import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Choice, KeptCounts, sliceOf } from '../../../../src/resources/entries/leaf-counts.ts';
import { ORDERS, OrderedIndex } from '../../../../src/resources/entries/ordered-index.ts';
import type { Condition } from '../../../../src/resources/query/filter.ts';
import type { Within } from '../../../../src/resources/query/within.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';
import { usedHeap } from '../../../support/used-heap.ts';
import { LARGE, makeNode, toNodeEntry } from '../node-objects.ts';

const NAMES = 700;
const everyName = Array.from({ length: NAMES }, (_, at) => `node-${String(at).padStart(3, '0')}`);
const entry = (at: number, isGood: boolean) =>
  toNodeEntry(makeNode(everyName[at] as string, { ...LARGE, labels: { state: isGood ? 'good' : 'bad' } }));
type Entry = ReturnType<typeof entry>;

const isGood: Condition = ({ labels }) => labels?.['state'] === 'good';
const endsInSeven: Condition = ({ name }) => name.endsWith('7');
const HALF: Within = { id: 'half', names: new Set(everyName.filter((_, at) => at % 2 === 0)) };
const choice = (filterKey: string, conditions: readonly Condition[], within?: Within): Choice => ({
  ...{ filterKey, conditions, within, sortBy: 'name' },
});
const choices: readonly Choice[] = [undefined, HALF].flatMap((within) => [
  choice('', [], within),
  choice('good', [isGood], within),
  choice('good&7', [isGood, endsInSeven], within),
]);

const reference = (sorted: readonly Entry[], { conditions, within }: Choice): readonly string[] =>
  sorted
    .filter((one) => conditions.every((holds) => holds(one)) && (within?.names.has(one.name) ?? true))
    .map(({ name }) => name);

const step = fc.record({ at: fc.nat(NAMES - 1), isGood: fc.boolean(), isGone: fc.nat(2).map((of) => of === 0) });
/** What happens between two pages: a change or two, or so many that leaves are cut and joined. */
const between = ({ upTo, isLargest }: Sizes) => {
  const many = fc.array(step, upTo(300, 200));
  return isLargest ? many : fc.oneof(fc.array(step, upTo(2)), many);
};
const page = fc.record({ from: fc.nat(800), length: fc.nat(40), ascending: fc.boolean(), which: fc.nat(5) });

function start(size: number) {
  const index = new OrderedIndex(ORDERS.name);
  const known = new Map<string, Entry>();
  const put = (one: Entry): void => {
    index.put(one, known.get(one.key));
    known.set(one.key, one);
  };
  const remove = ({ key }: Entry): void => {
    const one = known.get(key);
    if (one) index.remove(one);
    known.delete(key);
  };
  for (let at = 0; at < size; at++) put(entry(at, at % 3 > 0));
  const sorted = () => [...known.values()].sort(ORDERS.name);
  return { index, put, remove, sorted, counts: new KeptCounts(({ name }) => name) };
}

describe('the kept counts of a list', () => {
  test('give the pages of a sort and a filter of all entries, whatever changed since the page before', () => {
    const largest = new Largest('kept counts', 'leaves');
    const propertyOf = (sizes: Sizes) =>
      fc.property(
        sizes.isLargest ? fc.constant(NAMES) : fc.nat(NAMES),
        fc.array(fc.tuple(between(sizes), page), sizes.upTo(8, 2)),
        (size, rounds) => {
          const { index, put, remove, sorted, counts } = start(size);
          for (const [steps, { from, length, ascending, which }] of rounds) {
            for (const { at, isGood: good, isGone } of steps) isGone ? remove(entry(at, good)) : put(entry(at, good));
            largest.see(index.leaves.length);
            const chosen = choices[which] as Choice;
            const counted = counts.of(chosen, index.leaves);
            const expected = reference(sorted(), chosen);
            const slice = sliceOf(counted, { from, to: Math.min(from + length, counted.total), ascending });
            expect(counted.total).toBe(expected.length);
            expect(slice.map(({ name }) => name)).toEqual(
              (ascending ? expected.toReversed() : expected).slice(from, from + length),
            );
          }
        },
      );
    checkSizes(propertyOf, { cases: 40, short: 15 });
    largest.expectAtLeast(Math.ceil(NAMES / 32));
  });

  test('look at the entries of a changed leaf only, wherever leaves before it were cut or joined', () => {
    const { index, put, remove, counts } = start(NAMES);
    let looked = 0;
    const counting: Condition = (one) => {
      looked++;
      return isGood(one);
    };
    const lookedFor = (): number => {
      looked = 0;
      counts.of(choice('good', [counting]), index.leaves);
      return looked;
    };
    expect(lookedFor()).toBe(NAMES);
    expect(lookedFor()).toBe(0);
    put(entry(350, false));
    expect(lookedFor()).toBeLessThanOrEqual(32);
    for (let at = 600; at < 620; at++) remove(entry(at, true));
    expect(lookedFor()).toBeLessThanOrEqual(64);
    for (let at = 600; at < 620; at++) put(entry(at, true));
    put(entry(10, true));
    expect(lookedFor()).toBeLessThanOrEqual(96);
  });

  test('are those of the thirty-two filters that were used last, whoever parsed them', () => {
    const { index, counts } = start(40);
    const lookedFor = (at: number): number => {
      let looked = 0;
      const counting: Condition = () => ++looked > 0;
      expect(counts.of(choice(`filter-${at}`, [counting]), index.leaves).total).toBe(40);
      return looked;
    };
    const filters = Array.from({ length: 33 }, (_, at) => at);
    expect(new Set(filters.map(lookedFor))).toEqual(new Set([40]));
    expect(new Set(filters.slice(1).map(lookedFor))).toEqual(new Set([0]));
    expect([lookedFor(0), lookedFor(1)]).toEqual([40, 40]);
  });

  test('are shared by all callers who see the same namespaces', () => {
    const { index, counts } = start(40);
    let looked = 0;
    const counting: Condition = () => ++looked > 0;
    const totalFor = (id: string): number => {
      const within = { id, names: new Set(everyName.slice(0, 10)) };
      return counts.of(choice('all', [counting], within), index.leaves).total;
    };
    expect([totalFor('a'), looked]).toEqual([10, 10]);
    expect([totalFor('a'), looked]).toEqual([10, 10]);
    expect([totalFor('b'), looked]).toEqual([10, 20]);
  });

  test('keep no leaf in memory that the list no longer has', async () => {
    const { index, put, counts } = start(40);
    const of = () => counts.of(choice('good', [isGood]), index.leaves);
    of();
    const old = new WeakRef(index.leaves[0] as object);
    for (let at = 0; at < 40; at++) put(entry(at, true));
    // What a WeakRef gave or took in this turn stays until its end.
    await setImmediate();
    usedHeap();
    expect(old.deref()).toBeUndefined();
    expect(of().total).toBe(40);
  });
});
