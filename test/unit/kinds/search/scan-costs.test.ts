import { describe, expect, test } from 'vitest';
import { matchedKinds, rankedHits, type ScannedKind } from '../../../../src/kinds/search/scan.ts';
import type { Steps } from '../../../../src/runtime/time-slices.ts';
import { scanned, storeOf, watchedLeaves } from './searched-kinds.ts';

const OBJECTS = 6_000;
const PER_LEAF = 30;

/** A kind whose names are in the order of its leaves, and how often one of its entries was looked at. */
function watchedKind(): { readonly kind: ScannedKind; readonly looks: { count: number } } {
  const looks = { count: 0 };
  const digits = (at: number): string => String(at).padStart(4, '0');
  const store = storeOf(
    'Pod',
    Array.from({ length: OBJECTS }, (_, at) => ({
      ...{ namespace: `n-${digits(at % 1_000)}`, name: `web-${digits(at)}`, uid: `u-${at}`, at },
      labels: { app: 'web' },
    })),
  );
  const kind = scanned(store, PER_LEAF);
  return { kind: { ...kind, leaves: watchedLeaves(kind.leaves, looks) }, looks };
}

/** The result, and the number of steps. */
function run<Result>(steps: Steps<Result>): { readonly result: Result; readonly count: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { result: step.value, count };
  }
}

describe('the cost of a search', () => {
  const { kind, looks } = watchedKind();
  run(matchedKinds([kind], { text: 'nothing' })); // makes the indexes

  test('KD-42 comes in steps of 16 leaves', () => {
    const { count } = run(matchedKinds([kind], { text: 'nothing' }));
    expect(count).toBe(Math.ceil(OBJECTS / PER_LEAF / 16) + 1);
    const visible = { kind, skipped: 0, within: undefined };
    expect(run(rankedHits([visible], { text: 'web' }, 50)).count).toBe(count);
  });

  test.each([
    ['a part of a name', { text: 'nothing' }],
    ['a label', { label: { key: 'app', value: 'nothing' } }],
  ])('KD-42 is no look at any object where nothing matches: %s', (_, sought) => {
    looks.count = 0;
    expect(run(matchedKinds([kind], sought)).result).toEqual([]);
    expect(looks.count).toBe(0);
  });

  test.each([
    ['a part of a name', { text: 'web' }],
    ['a label', { label: { key: 'app', value: 'web' } }],
  ])('KD-42 is a look at few of the objects that are only counted: %s', (_, sought) => {
    looks.count = 0;
    const { hits, totals } = run(rankedHits([{ kind, skipped: 0, within: undefined }], sought, 1)).result;
    expect([hits.length, ...totals.values()]).toEqual([1, OBJECTS]);
    expect(hits[0]?.entry.namespace).toBe('n-0000');
    expect(looks.count).toBeLessThan(OBJECTS / 4);
  });
});
