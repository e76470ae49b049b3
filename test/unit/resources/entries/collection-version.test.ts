import { describe, expect, test } from 'vitest';
import { CollectionVersion } from '../../../../src/resources/entries/collection-version.ts';

/** As after a first list at 100 whose newest object is 90. */
function listed() {
  const version = new CollectionVersion();
  version.listed({ resourceVersion: '100', newest: '90', count: 3, sameHistory: false });
  return version;
}

describe('the version of a mirrored collection', () => {
  test('is named by its newest change, not by the list that it came with', () => {
    const version = listed();
    expect(version.state).toEqual({ newest: '90', count: 3 });
    version.advance('101', 4);
    expect(version.state).toEqual({ newest: '101', count: 4 });
  });

  test.each([
    ['90', true],
    ['95', true], // a removal, of which the list has nothing to show
    ['100', true],
    ['101', false],
  ])('has all up to %s when it was listed at 100: %s', (newest, has) => {
    expect(listed().has({ newest, count: 3 })).toBe(has);
  });

  test.each([
    ['the list itself', { newest: '100', count: 9 }, true],
    ['its state, by another name', { newest: '95', count: 3 }, true],
    ['fewer objects before it', { newest: '95', count: 2 }, false],
    ['more objects before it, of which one went', { newest: '95', count: 4 }, false],
    ['what is older than its newest object', { newest: '89', count: 3 }, false],
  ])('knows what happened after %s', (_, state, knows) => {
    expect(listed().knowsAfter(state)).toBe(knows);
  });

  test('does not know what went, before a list that is the client’s own, of what the client has seen after that', () => {
    const own = { newest: '90', count: 3 };
    expect(listed().knowsAfter(own, { newest: '95', count: 4 })).toBe(false);
    expect(listed().knowsAfter(own, { newest: '90', count: 2 })).toBe(false);
    expect(listed().knowsAfter(own, own)).toBe(true);
    expect(listed().knowsAfter({ newest: '100', count: 3 }, { newest: '105', count: 4 })).toBe(true);
  });

  test('does not know what came and went before a relist', () => {
    const version = listed();
    version.advance('110', 3);
    version.listed({ resourceVersion: '200', newest: '190', count: 3, sameHistory: true });
    expect(version.knowsAfter({ newest: '110', count: 3 })).toBe(false);
    expect(version.knowsAfter({ newest: '190', count: 3 })).toBe(true);
  });

  test('keeps its name when a relist shows nothing newer', () => {
    const version = listed();
    version.advance('110', 3); // a removal and an addition, say
    version.listed({ resourceVersion: '200', newest: '90', count: 3, sameHistory: true });
    expect(version.state).toEqual({ newest: '110', count: 3 });
  });

  test('goes back with a restored cluster, and then trusts no number of before', () => {
    const version = listed();
    version.advance('150', 3);
    version.listed({ resourceVersion: '120', newest: '90', count: 3, sameHistory: false });
    expect(version.state).toEqual({ newest: '120', count: 3 });
    expect([version.has({ newest: '150', count: 3 }), version.has({ newest: '120', count: 3 })]).toEqual([false, true]);
    expect(version.knowsAfter({ newest: '110', count: 3 })).toBe(false);
    expect(version.knowsAfter(version.state)).toBe(true);
  });

  test('orders numbers of any length, and by value', () => {
    const version = new CollectionVersion();
    version.advance('9', 1);
    version.advance('10', 1);
    expect(version.state.newest).toBe('10');
    version.advance('99999999999999999999', 1);
    const has = (newest: string): boolean => version.has({ newest, count: 1 });
    expect([has('100000000000000000000'), has('9223372036854775808')]).toEqual([false, true]);
  });

  test('has a state from which objects went when no more of those that are not newer are left', () => {
    const left = [90, 80, 70].map((version) => ({ resourceVersion: `${version}` }));
    const version = new CollectionVersion();
    version.countIn(() => left);
    version.listed({ resourceVersion: '100', newest: '90', count: 3, sameHistory: false });
    const seen = (): boolean[] => [3, 2, 1].map((count) => version.has({ newest: '90', count }));
    expect(seen()).toEqual([true, false, false]);
    left.pop();
    version.advance('101', 2, '70');
    expect(seen()).toEqual([true, true, false]);
    left.push({ resourceVersion: '102' });
    version.advance('102', 3);
    expect(seen()).toEqual([true, true, false]);
    left[1] = { resourceVersion: '103' };
    version.advance('103', 3, '80');
    expect(seen()).toEqual([true, true, true]);
  });

  test('looks at all objects once for a state that it never had, while it is among the newest 1,024 of those', () => {
    let looks = 0;
    const version = new CollectionVersion();
    version.countIn(() => {
      looks++;
      return [];
    });
    version.listed({ resourceVersion: '9000', newest: '9000', count: 3, sameHistory: false });
    const looksFor = (newest: number): number => {
      const before = looks;
      version.has({ newest: `${newest}`, count: 1 });
      return looks - before;
    };
    expect([looksFor(1), looksFor(1)]).toEqual([1, 0]);
    for (let at = 2; at <= 1_024; at++) looksFor(at);
    expect([looksFor(1), looksFor(1_025), looksFor(2), looksFor(1)]).toEqual([0, 1, 0, 1]);
  });

  test('does not look at all objects for a state that it had itself', () => {
    const version = new CollectionVersion();
    version.countIn(() => {
      throw new Error('looked at');
    });
    version.listed({ resourceVersion: '100', newest: '90', count: 3, sameHistory: false });
    for (let at = 101; at < 200; at++) version.advance(`${at}`, at);
    expect(version.has({ newest: '150', count: 150 })).toBe(true);
  });
});
