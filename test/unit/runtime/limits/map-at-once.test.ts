import { describe, expect, test } from 'vitest';
import { mapAtOnce } from '../../../../src/runtime/limits/map-at-once.ts';

/** Work that ends when the test says so. */
function controlled() {
  const begun: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<string>>();
  const make = (element: number): Promise<string> => {
    begun.push(element);
    const end = Promise.withResolvers<string>();
    ends.set(element, end);
    return end.promise;
  };
  return { begun, ends, make };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('mapping at most so many at once', () => {
  test('keeps the order of the elements, and begins another one when one has ended', async () => {
    const { begun, ends, make } = controlled();
    const made = mapAtOnce([1, 2, 3], make, { most: 2, signal: new AbortController().signal });
    expect(begun).toEqual([1, 2]);
    ends.get(2)?.resolve('two');
    await turn();
    expect(begun).toEqual([1, 2, 3]);
    ends.get(3)?.resolve('three');
    ends.get(1)?.resolve('one');
    expect(await made).toEqual(['one', 'two', 'three']);
  });

  test('begins nothing after a failure, and rejects with it', async () => {
    const { begun, ends, make } = controlled();
    const made = mapAtOnce([1, 2, 3], make, { most: 2, signal: new AbortController().signal });
    const refused = expect(made).rejects.toThrow('no answer');
    ends.get(1)?.reject(new Error('no answer'));
    await turn();
    ends.get(2)?.resolve('two');
    await refused;
    await turn();
    expect(begun).toEqual([1, 2]);
  });

  test('begins nothing after the signal, and rejects with its reason', async () => {
    const { begun, ends, make } = controlled();
    const gone = new AbortController();
    const made = mapAtOnce([1, 2], make, { most: 1, signal: gone.signal });
    const refused = expect(made).rejects.toThrow('the client has gone');
    gone.abort(new Error('the client has gone'));
    ends.get(1)?.resolve('one');
    await refused;
    expect(begun).toEqual([1]);
  });
});
