import { describe, expect, test } from 'vitest';
import { type LoadedKeys, reportKeyChanges } from '../../../../src/oauth/keys/loaded-keys.ts';
import type { KeyState } from '../../../../src/oauth/keys/signing-key-data.ts';

/** Keys by their states; `kept` are those that the Secret no longer lists. */
const loaded = (states: Readonly<Record<string, KeyState>>, kept: readonly string[] = []): LoadedKeys => {
  const keys = Object.entries(states).map(([kid, state]) => ({ kid, state }));
  const active = keys.find(({ state }) => state === 'active')?.kid;
  return { keys, active, kept: keys.filter(({ kid }) => kept.includes(kid)) } as unknown as LoadedKeys;
};

const told = (before: LoadedKeys, now: LoadedKeys): unknown[] => {
  const events: unknown[] = [];
  reportKeyChanges(before, now, { report: (event, fields) => void events.push([event, fields]) });
  return events;
};

const A = { a: 'active' } as const;
const A_THEN_B = { a: 'verify-only', b: 'active' } as const;

describe('a change of the signing keys', () => {
  test.each<[string, LoadedKeys, LoadedKeys, unknown[]]>([
    ['nothing', loaded(A), loaded(A), []],
    ['a publication', loaded(A), loaded({ ...A, b: 'next' }), [['signing_key_published', { kid: 'b' }]]],
    [
      'an activation, with the key before it',
      loaded({ ...A, b: 'next' }),
      loaded(A_THEN_B),
      [['signing_key_activated', { kid: 'b', instead: 'a' }]],
    ],
    ['a revocation', loaded(A_THEN_B), loaded({ ...A_THEN_B, a: 'revoked' }), [['signing_key_revoked', { kid: 'a' }]]],
    ['a retirement', loaded(A_THEN_B), loaded({ b: 'active' }), [['signing_key_retired', { kid: 'a' }]]],
    ['nothing when a revoked key goes', loaded({ a: 'revoked', b: 'active' }), loaded({ b: 'active' }), []],
  ])('is told as %s', (_, before, now, events) => {
    expect(told(before, now)).toEqual(events);
  });

  test('C-39 tells of keys that are missing once, and of all of them when another one is', () => {
    const one = loaded({ b: 'active', a: 'verify-only' }, ['a']);
    const two = loaded({ c: 'active', a: 'verify-only', b: 'verify-only' }, ['a', 'b']);
    expect(told(loaded(A), one)).toContainEqual(['signing_keys_missing', { kids: ['a'] }]);
    expect(told(one, one)).toEqual([]);
    expect(told(one, two)).toContainEqual(['signing_keys_missing', { kids: ['a', 'b'] }]);
    expect(told(two, one)).not.toContainEqual(['signing_keys_missing', { kids: ['a'] }]);
  });
});
