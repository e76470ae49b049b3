import { describe, expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../../../src/runtime/limits/concurrency-limit.ts';

const FLOWS = ['a', 'b', 'c'];

describe('the limit of all flows together', () => {
  test('grows by one a round while somebody waits for room, up to the most', () => {
    const limit = new ConcurrencyLimit({ first: 2, most: 4 });
    const sizes = [];
    for (let call = 0; call < 12; call++, limit.answered(true)) sizes.push(limit.current);
    expect(sizes).toEqual([2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4]);
  });

  test('stays while nobody waits', () => {
    const limit = new ConcurrencyLimit({ first: 2, most: 4 });
    for (let call = 0; call < 100; call++) limit.answered(false);
    expect(limit.current).toBe(2);
  });

  test('is halved when three flows are slow, to an eighth of the most at least', () => {
    const limit = new ConcurrencyLimit({ first: 64, most: 64 });
    const sizes = [];
    for (let round = 0; round < 5; round++) {
      for (const flow of FLOWS) limit.slow(flow, limit.cuts);
      sizes.push(limit.current);
    }
    expect(sizes).toEqual([32, 16, 8, 8, 8]);
  });

  test('is not halved by two, however often', () => {
    const limit = new ConcurrencyLimit({ first: 64, most: 64 });
    for (let call = 0; call < 100; call++) for (const flow of ['a', 'b']) limit.slow(flow, limit.cuts);
    expect(limit.current).toBe(64);
  });

  test('is not halved by three who are slow in different rounds', () => {
    const limit = new ConcurrencyLimit({ first: 16, most: 64 });
    for (const flow of FLOWS) {
      limit.slow(flow, limit.cuts);
      for (let call = 0; call < 16; call++) limit.answered(false);
    }
    expect(limit.current).toBe(16);
  });

  test('is halved by three who are slow in one round, though others are answered', () => {
    const limit = new ConcurrencyLimit({ first: 16, most: 64 });
    for (const flow of FLOWS) {
      limit.slow(flow, limit.cuts);
      for (let call = 0; call < 5; call++) limit.answered(false);
    }
    expect(limit.current).toBe(8);
  });

  test('is cut once by calls that were under way together', () => {
    const limit = new ConcurrencyLimit({ first: 64, most: 64 });
    const { cuts } = limit;
    for (let call = 0; call < 100; call++) for (const flow of FLOWS) limit.slow(flow, cuts);
    expect(limit.current).toBe(32);
  });
});
