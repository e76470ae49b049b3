import { describe, expect, test } from 'vitest';
import { type KeyRecord, planRotation, rotationDueAt } from '../../../../src/oauth/keys/key-plan.ts';
import type { KeyState } from '../../../../src/oauth/keys/signing-key-data.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Every 30 days; tokens of four hours and ten seconds. */
const rules = { periodMs: 30 * DAY, tokenLifeMs: 14_410 * SECOND };
const byHand = { ...rules, periodMs: 0 };
const REMOVED_AFTER = 14_470 * SECOND;

const key = (kid: string, state: KeyState, ageMs: number): KeyRecord => ({
  kid,
  state,
  sinceMs: NOW - ageMs,
  privateKey: 'private',
});
const publicOnly = ({ privateKey: _, ...rest }: KeyRecord): KeyRecord => rest;
const young = key('a', 'active', DAY);

describe('the plan for the signing keys', () => {
  test.each<[string, readonly KeyRecord[]]>([
    ['the active key is young', [young]],
    ['the next key was published 14 min 59 s ago', [young, key('b', 'next', 15 * MINUTE - SECOND)]],
    ['another key retired 119 s ago', [young, key('b', 'verify-only', 119 * SECOND)]],
    ['its tokens may live for one more second', [young, publicOnly(key('b', 'verify-only', REMOVED_AFTER - SECOND))]],
    [
      'a revoked key would verify for one more second',
      [young, publicOnly(key('b', 'revoked', REMOVED_AFTER - SECOND))],
    ],
    ['the clock was set back', [key('a', 'active', -DAY), key('b', 'next', -DAY), key('c', 'verify-only', -DAY)]],
  ])('changes nothing while %s', (_, keys) => {
    expect(planRotation(keys, NOW, rules)).toBeUndefined();
  });

  test('publishes the next key so early that two looks and 15 minutes later the time has come', () => {
    const early = 15 * MINUTE + 150 * SECOND;
    expect(planRotation([key('a', 'active', 30 * DAY - early - 1)], NOW, rules)).toBeUndefined();
    const due = [key('a', 'active', 30 * DAY - early)];
    expect(planRotation(due, NOW, rules)).toEqual({ keys: due, publish: true });
  });

  test('publishes one next key at a time', () => {
    expect(planRotation([key('a', 'active', 90 * DAY), key('b', 'next', MINUTE)], NOW, rules)).toBeUndefined();
  });

  test('publishes none when keys are rotated by hand only', () => {
    expect(planRotation([key('a', 'active', 900 * DAY)], NOW, byHand)).toBeUndefined();
  });

  test.each([
    ['on schedule', rules],
    ['also when keys are rotated by hand only', byHand],
  ])('activates the next key 15 minutes after its publication, %s', (_, either) => {
    const keys = [key('a', 'active', DAY), key('b', 'next', 15 * MINUTE)];
    expect(planRotation(keys, NOW, either)).toEqual({
      keys: [key('a', 'verify-only', 0), key('b', 'active', 0)],
      publish: false,
    });
  });

  test('activates the one that was published first', () => {
    const keys = [young, key('b', 'next', 20 * MINUTE), key('c', 'next', 30 * MINUTE)];
    expect(planRotation(keys, NOW, rules)?.keys.find(({ state }) => state === 'active')?.kid).toBe('c');
  });

  test('drops the private part of a retired key after 120 s, in one step with what else is due', () => {
    const keys = [young, key('b', 'verify-only', 120 * SECOND), key('c', 'next', 15 * MINUTE)];
    expect(planRotation(keys, NOW, rules)?.keys).toEqual([
      key('a', 'verify-only', 0),
      publicOnly(key('b', 'verify-only', 120 * SECOND)),
      key('c', 'active', 0),
    ]);
  });

  test.each(['verify-only', 'revoked'] as const)('removes a %s key when all its tokens have expired', (state) => {
    expect(planRotation([young, key('b', state, REMOVED_AFTER)], NOW, rules)).toEqual({
      keys: [young],
      publish: false,
    });
  });
});

describe('the next rotation', () => {
  test.each<[string, readonly KeyRecord[], typeof rules, number | undefined]>([
    ['is a period after the last one', [young], rules, NOW + 29 * DAY],
    ['is 15 minutes after the publication of a next key', [young, key('b', 'next', MINUTE)], rules, NOW + 14 * MINUTE],
    ['is unknown when keys are rotated by hand', [young], byHand, undefined],
    ['is known all the same once a next key is published', [young, key('b', 'next', 0)], byHand, NOW + 15 * MINUTE],
    ['is unknown while there are no keys', [], rules, undefined],
  ])('%s', (_, keys, either, at) => {
    expect(rotationDueAt(keys, either)).toBe(at);
  });
});
