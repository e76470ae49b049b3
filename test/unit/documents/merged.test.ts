import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeNewestFirst } from '../../../src/documents/merged.ts';
import { checkAsync } from '../../support/property.ts';

interface Element {
  readonly at: number;
}

/** A source of these pieces, and whether it was ended. */
function sourceOf(pieces: readonly (readonly number[])[], fails = false) {
  const state = { given: 0, isEnded: false };
  const source = async function* (): AsyncGenerator<readonly Element[], void> {
    try {
      for (const piece of pieces) {
        state.given++;
        yield piece.map((at) => ({ at }));
      }
      if (fails) throw new Error('the source broke');
    } finally {
      state.isEnded = true;
    }
  };
  return { source: source(), state };
}

async function all(sources: readonly ReturnType<typeof sourceOf>[]): Promise<number[]> {
  const merged: number[] = [];
  for await (const piece of mergeNewestFirst(sources.map(({ source }) => source)))
    merged.push(...piece.map(({ at }) => at));
  return merged;
}

describe('sources that are merged', () => {
  test.each<[string, number[][][], number[]]>([
    ['none', [], []],
    ['one', [[[3, 1], [0]]], [3, 1, 0]],
    ['two', [[[9, 5], [2]], [[8, 6, 1]]], [9, 8, 6, 5, 2, 1]],
    ['with empty pieces', [[[], [4], []], [[], []], [[5]]], [5, 4]],
    ['with equal times', [[[2, 2]], [[2]]], [2, 2, 2]],
  ])('are one in order: %s', async (_, pieces, wanted) => {
    const sources = pieces.map((one) => sourceOf(one));
    expect(await all(sources)).toEqual(wanted);
    for (const { state } of sources) expect(state.isEnded).toBe(true);
  });

  test('are in order whatever their pieces are', async () => {
    const pieces = fc.array(
      fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 4, size: 'max' }), { maxLength: 4, size: 'max' }),
      {
        maxLength: 4,
        size: 'max',
      },
    );
    await checkAsync(
      fc.asyncProperty(pieces, async (wanted) => {
        const sorted = wanted.map((source) => {
          const flat = source.flat().sort((a, b) => b - a);
          return source.map((piece) => flat.splice(0, piece.length));
        });
        expect(await all(sorted.map((one) => sourceOf(one)))).toEqual(wanted.flat(2).sort((a, b) => b - a));
      }),
      { cases: 100 },
    );
  });

  test('are asked for a piece when the one before is used up, and ended when their reader ends', async () => {
    const sources = [sourceOf([[9], [5], [1]]), sourceOf([[8], [0]])];
    const merged = mergeNewestFirst(sources.map(({ source }) => source));
    expect((await merged.next()).value).toEqual([{ at: 9 }]);
    expect(sources.map(({ state }) => state.given)).toEqual([1, 1]);
    await merged.return();
    expect(sources.map(({ state }) => state.isEnded)).toEqual([true, true]);
  });

  test('are all ended when one fails', async () => {
    const sources = [sourceOf([[9]], true), sourceOf([[8], [0]])];
    await expect(all(sources)).rejects.toThrow('the source broke');
    expect(sources.map(({ state }) => state.isEnded)).toEqual([true, true]);
  });
});
