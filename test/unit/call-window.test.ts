import { describe, expect, test } from 'vitest';
import { CallWindow } from '../../src/runtime/calls/bounded-calls.ts';

const PARTIES = ['a', 'b', 'c'];

describe('the window of all parties together', () => {
  test('grows by one a round while somebody waits for room, up to the most', () => {
    const window = new CallWindow({ first: 2, most: 4 });
    const sizes = [];
    for (let call = 0; call < 12; call++, window.answered(true)) sizes.push(window.size);
    expect(sizes).toEqual([2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4]);
  });

  test('stays while nobody waits', () => {
    const window = new CallWindow({ first: 2, most: 4 });
    for (let call = 0; call < 100; call++) window.answered(false);
    expect(window.size).toBe(2);
  });

  test('is halved when three parties are slow, to an eighth of the most at least', () => {
    const window = new CallWindow({ first: 64, most: 64 });
    const sizes = [];
    for (let round = 0; round < 5; round++) {
      for (const party of PARTIES) window.slow(party, window.cuts);
      sizes.push(window.size);
    }
    expect(sizes).toEqual([32, 16, 8, 8, 8]);
  });

  test('is not halved by two, however often', () => {
    const window = new CallWindow({ first: 64, most: 64 });
    for (let call = 0; call < 100; call++) for (const party of ['a', 'b']) window.slow(party, window.cuts);
    expect(window.size).toBe(64);
  });

  test('is not halved by three who are slow in different rounds', () => {
    const window = new CallWindow({ first: 16, most: 64 });
    for (const party of PARTIES) {
      window.slow(party, window.cuts);
      for (let call = 0; call < 16; call++) window.answered(false);
    }
    expect(window.size).toBe(16);
  });

  test('is halved by three who are slow in one round, though others are answered', () => {
    const window = new CallWindow({ first: 16, most: 64 });
    for (const party of PARTIES) {
      window.slow(party, window.cuts);
      for (let call = 0; call < 5; call++) window.answered(false);
    }
    expect(window.size).toBe(8);
  });

  test('is cut once by calls that were under way together', () => {
    const window = new CallWindow({ first: 64, most: 64 });
    const { cuts } = window;
    for (let call = 0; call < 100; call++) for (const party of PARTIES) window.slow(party, cuts);
    expect(window.size).toBe(32);
  });
});
