import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys, DecisionCache } from '../../../src/authorization/decision-cache.ts';

const answer = { allowed: true, at: 0 };

describe('decision cache', () => {
  test('drops the least recently used answer beyond its size', () => {
    const cache = new DecisionCache(2);
    cache.set('a', answer);
    cache.set('b', answer);
    cache.get('a');
    cache.set('c', answer);
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    expect(cache.size).toBe(2);
  });

  test('keeps one answer a key, the newest', () => {
    const cache = new DecisionCache(2);
    cache.set('a', answer);
    cache.set('a', { allowed: false, at: 1 });
    expect([cache.size, cache.get('a')]).toEqual([1, { allowed: false, at: 1 }]);
  });
});

describe('decision key', () => {
  const decisionKey = createDecisionKeys();
  const text = fc.constantFrom('', 'a', 'b', '"', ',', 'a","b');
  const subject = fc.record({ name: text, uid: text, groups: fc.array(text, { maxLength: 3 }) });
  const resource = fc.record(
    { verb: text, group: text, version: text, resource: text, subresource: text, namespace: text, name: text },
    { requiredKeys: ['verb', 'group', 'version', 'resource'] },
  );
  const attributes = fc.oneof(
    fc.record({ resource }),
    fc.record({ nonResource: fc.record({ path: text, verb: text }) }),
  ) as fc.Arbitrary<RequestAttributes>;

  test('is equal for two questions only if they are one question, whatever stands in their parts', () => {
    const meaning = (who: Subject, what: RequestAttributes): unknown => [
      { ...who, groups: [...who.groups].sort() },
      what,
    ];
    fc.assert(
      fc.property(subject, attributes, subject, attributes, (who, what, otherWho, otherWhat) => {
        if (decisionKey(who, what) !== decisionKey(otherWho, otherWhat)) return;
        expect(meaning(who, what)).toEqual(meaning(otherWho, otherWhat));
      }),
      { numRuns: 2_000 },
    );
  });

  const who = { name: 'alice', uid: '1', groups: ['staff'] };
  const named = (name: string): RequestAttributes => ({
    resource: { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name },
  });

  test('is short, however long the question is', () => {
    for (const length of [0, 100, 253, 14_000]) {
      expect(decisionKey(who, named('n'.repeat(length))).length).toBeLessThanOrEqual(256);
    }
    const groups = Array.from({ length: 1_000 }, (_, index) => `group-${index}`);
    expect(decisionKey({ ...who, groups }, named('n')).length).toBeLessThanOrEqual(256);
  });

  test('of a long question differs by every character, and from that of every short one', () => {
    const long = 'n'.repeat(14_000);
    const key = decisionKey(who, named(`${long}a`));
    expect(decisionKey(who, named(`${long}b`))).not.toBe(key);
    expect(decisionKey({ ...who, uid: '2' }, named(`${long}a`))).not.toBe(key);
    expect(key.startsWith('[')).toBe(false); // a short question is a JSON array
    expect(decisionKey(who, named(`${long}a`))).toBe(key);
  });

  test('does not depend on the order of the groups', () => {
    const what = { nonResource: { path: '/kapis', verb: 'get' } };
    expect(decisionKey({ ...who, groups: ['b', 'a'] }, what)).toBe(decisionKey({ ...who, groups: ['a', 'b'] }, what));
  });
});
