import { describe, expect, test } from 'vitest';
import { type AgingCopy, areCurrent, neverProven, oldestAgeMs, tooOldAmong } from '../../src/data-age.ts';

const copy = (data: string, at: number, maxAgeMs = 1_000): AgingCopy => ({ data, proof: { at }, maxAgeMs });

/** The readers get the time; they have no clock. */
const NOW = 10_000;

describe('the last proof of a copy of data', () => {
  test('makes the copy infinitely old before it is written', () => {
    expect(oldestAgeMs([{ at: NOW }, neverProven()], NOW)).toBe(Number.POSITIVE_INFINITY);
  });

  test('counts from when its owner wrote it, for everybody who holds it', () => {
    const proof = neverProven();
    const copies = [{ data: 'users', proof, maxAgeMs: 1_000 }];
    proof.at = NOW - 1_000;
    expect([areCurrent(copies, NOW), areCurrent(copies, NOW + 1)]).toEqual([true, false]);
    proof.at = NOW;
    expect(areCurrent(copies, NOW + 1)).toBe(true);
  });

  test('the oldest one counts, and no age is below zero', () => {
    expect(oldestAgeMs([{ at: NOW - 5 }, { at: NOW - 700 }, { at: NOW }], NOW)).toBe(700);
    expect([oldestAgeMs([{ at: NOW + 1 }], NOW), oldestAgeMs([], NOW)]).toEqual([0, 0]);
  });
});

describe('copies that an answer rests on', () => {
  test('are current while each is within its own limit', () => {
    expect(areCurrent([], NOW)).toBe(true);
    expect(areCurrent([copy('users', NOW - 1_000), copy('sessions', NOW - 2_000, 2_000)], NOW)).toBe(true);
    expect(areCurrent([copy('users', NOW - 1_000), copy('sessions', NOW - 2_001, 2_000)], NOW)).toBe(false);
  });

  test('are not current while one has no proof, with any limit', () => {
    for (const maxAgeMs of [1_000, Number.POSITIVE_INFINITY])
      expect(areCurrent([copy('users', NOW), { data: 'users', proof: neverProven(), maxAgeMs }], NOW)).toBe(false);
  });

  test('never grow too old without a limit', () => {
    expect(areCurrent([copy('users', 0, Number.POSITIVE_INFINITY)], 1e15)).toBe(true);
  });

  test('name the first that is too old, with its limit', () => {
    const copies = [copy('users', NOW), copy('sessions', 0, 2_000), copy('signing keys', 0)];
    expect(tooOldAmong(copies, NOW)).toBe('sessions are not available: data is older than 2s');
  });

  test('do not call old what was never proved: another check explains that', () => {
    expect(tooOldAmong([{ data: 'users', proof: neverProven(), maxAgeMs: 1_000 }], NOW)).toBeUndefined();
  });
});
