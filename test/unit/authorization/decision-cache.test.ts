import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestAttributes, ResourceAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys, DecisionCache } from '../../../src/authorization/decision-cache.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes, type Sizes } from '../../support/property.ts';
import { usedHeap } from '../../support/used-heap.ts';

const answer = { allowed: true, at: 0 };

describe('decision cache', () => {
  const keyOf = (key: string, flow = 'a') => ({ key, flow });

  test('drops the answer that was given longest ago beyond its size', () => {
    const cache = new DecisionCache({ maxEntries: 2, maxEntriesOfOne: 2 });
    for (const key of ['a', 'b', 'a', 'c']) cache.set(keyOf(key), answer);
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true]);
    expect(cache.size).toBe(2);
  });

  test('keeps one answer a key, the newest', () => {
    const cache = new DecisionCache({ maxEntries: 2, maxEntriesOfOne: 2 });
    cache.set(keyOf('a'), answer);
    cache.set(keyOf('a'), { allowed: false, at: 1 });
    expect([cache.size, cache.get('a')]).toEqual([1, expect.objectContaining({ allowed: false, at: 1 })]);
  });

  test('A-49 lets a flow with more questions than its share push out its own answers only', () => {
    const cache = new DecisionCache({ maxEntries: 100, maxEntriesOfOne: 10 });
    for (let index = 0; index < 5; index++) cache.set(keyOf(`owner${index}`, 'owner'), answer);
    for (let index = 0; index < 10_000; index++) cache.set(keyOf(`flood${index}`, 'flood'), answer);
    expect(cache.size).toBe(15);
    expect([0, 1, 2, 3, 4].every((index) => cache.get(`owner${index}`))).toBe(true);
    expect(cache.get('flood9999') && cache.get('flood9990')).toBeTruthy();
    expect(cache.get('flood9989')).toBeUndefined();
  });

  test('A-49 lets many flows that fill it together push out their own answers first', () => {
    const cache = new DecisionCache({ maxEntries: 100, maxEntriesOfOne: 10 });
    cache.set(keyOf('owner', 'owner'), answer);
    for (let index = 0; index < 10_000; index++) cache.set(keyOf(`flood${index}`, `flood${index % 20}`), answer);
    expect([cache.size, cache.get('owner') !== undefined]).toEqual([100, true]);
  });

  test('A-49 lets a flow that has no more than another push out the oldest answer of all', () => {
    const cache = new DecisionCache({ maxEntries: 3, maxEntriesOfOne: 3 });
    for (const key of ['a1', 'a2']) cache.set(keyOf(key, 'a'), answer);
    for (const key of ['b1', 'b2']) cache.set(keyOf(key, 'b'), answer);
    expect(['a1', 'a2', 'b1', 'b2'].filter((key) => cache.get(key))).toEqual(['a2', 'b1', 'b2']);
  });

  test('forgets every answer about users of a name, whatever their uid, and no other', () => {
    const cache = new DecisionCache({ maxEntries: 20, maxEntriesOfOne: 2 });
    const account = 'system:serviceaccount:default:agent';
    const flows = ['alice 1', 'alice 2', 'alicea 1', 'bob 1', account, `${account}2`];
    const fill = () => {
      for (const flow of flows) for (const key of ['x', 'y']) cache.set(keyOf(`${flow}/${key}`, flow), answer);
    };
    const left = () => flows.filter((flow) => cache.get(`${flow}/x`) || cache.get(`${flow}/y`));
    fill();
    fill(); // each answer takes the place of the one before
    cache.forget('alice');
    expect([left(), cache.size]).toEqual([flows.slice(2), 8]);
    cache.forget(account);
    cache.forget('nobody');
    expect([left(), cache.size]).toEqual([['alicea 1', 'bob 1', `${account}2`], 6]);
    cache.set(keyOf('alice 1/x', 'alice 1'), answer);
    expect(left()).toContain('alice 1');
  });

  test('counts what it dropped for all no longer against its flow', () => {
    const cache = new DecisionCache({ maxEntries: 4, maxEntriesOfOne: 3 });
    for (const key of ['a1', 'a2', 'a3']) cache.set(keyOf(key, 'a'), answer);
    for (const key of ['b1', 'b2']) cache.set(keyOf(key, 'b'), answer); // pushes out a1
    cache.set(keyOf('a4', 'a'), answer); // a has three again, and four is all there may be
    expect(['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].filter((key) => cache.get(key))).toEqual(['a3', 'a4', 'b1', 'b2']);
  });

  test('keeps nothing of a flow whose answers it has dropped', () => {
    const cache = new DecisionCache({ maxEntries: 10, maxEntriesOfOne: 10 });
    const ask = (flows: number): void => {
      for (let index = 0; index < flows; index++) cache.set(keyOf(`${index}/x`, `user-${index} ${index}`), answer);
    };
    ask(1_000);
    const before = usedHeap();
    ask(25_000);
    // An empty set for each is 5 MB.
    expect(usedHeap() - before).toBeLessThan(2_000_000);
  });
});

describe('decision key', () => {
  const decisionKey = createDecisionKeys();
  const keyOf = (who: Subject, what: RequestAttributes): string => decisionKey(who, what).key;
  const who = { name: 'alice', uid: '1', groups: ['staff'] };
  const named = (name: string): RequestAttributes => ({
    resource: { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name },
  });

  /** Texts of every length up to a group name's, with the signs that could end a part of the key. */
  const text = fc.oneof(
    fc.constantFrom('', 'a', 'b', '"', ',', 'a","b', '[]', 'null'),
    fc.string({ maxLength: 63, size: 'max' }),
  );
  const subjectOf = ({ upTo }: Sizes) => fc.record({ name: text, uid: text, groups: fc.uniqueArray(text, upTo(300)) });
  const resource = fc.record(
    { verb: text, group: text, version: text, resource: text, subresource: text, namespace: text, name: text },
    { requiredKeys: ['verb', 'group', 'version', 'resource'] },
  );
  const MEMBERS = ['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name'] as const;

  /** One change of one part; the words of `from` and `to` are never equal. */
  type Change = (who: Subject, what: ResourceAttributes, word: string) => [Subject, ResourceAttributes];
  const another = (old: string | undefined, word: string): string => (old === word ? `${word}x` : word);
  const changes: Readonly<Record<string, Change>> = {
    name: (user, what, word) => [{ ...user, name: another(user.name, word) }, what],
    uid: (user, what, word) => [{ ...user, uid: another(user.uid, word) }, what],
    'a group more': (user, what, word) => [
      { ...user, groups: [...user.groups, `${word}${user.groups.join('')}x`] },
      what,
    ],
    'a group less': (user, what) => [{ ...user, groups: user.groups.slice(0, -1) }, what],
    'the last group': (user, what, word) => [
      { ...user, groups: user.groups.with(-1, `${word}${user.groups.join('')}x`) },
      what,
    ],
    ...Object.fromEntries(
      MEMBERS.map((member): [string, Change] => [
        member,
        (user, what, word) => [user, { ...what, [member]: another(what[member], word) }],
      ]),
    ),
  };

  test.each(Object.keys(changes))('differs when this alone differs: %s', (name) => {
    const largest = new Largest(`a question whose ${name} differs`, 'groups');
    checkSizes(
      (sizes) =>
        fc.property(subjectOf(sizes), resource, text, (user, what, word) => {
          fc.pre(!name.includes('group ') || user.groups.length > 0);
          fc.pre(name !== 'the last group' || user.groups.length > 0);
          largest.see(user.groups.length);
          const [otherUser, otherWhat] = changes[name]!(user, what as ResourceAttributes, word);
          const key = keyOf(user, { resource: what as ResourceAttributes });
          expect(keyOf(otherUser, { resource: otherWhat })).not.toBe(key);
          expect(keyOf({ ...user }, { resource: { ...(what as ResourceAttributes) } })).toBe(key);
        }),
      { cases: 100, short: 40 },
    );
    largest.expectAtLeast(300);
  });

  test('tells a path from a resource, and one path and verb from another', () => {
    const ofPath = (path: string, verb: string) => keyOf(who, { nonResource: { path, verb } });
    const keys = [ofPath('/kapis', 'get'), ofPath('/kapis', 'post'), ofPath('/kapi', 'get'), keyOf(who, named('n'))];
    expect(new Set(keys).size).toBe(4);
  });

  test('is short, however long the question is', () => {
    for (const length of [0, 100, 253, 14_000]) {
      expect(keyOf(who, named('n'.repeat(length))).length).toBeLessThanOrEqual(256);
    }
    const groups = Array.from({ length: 1_000 }, (_, index) => `group-${index}`);
    expect(keyOf({ ...who, groups }, named('n')).length).toBeLessThanOrEqual(256);
  });

  test('is the question itself up to 256 characters', () => {
    const others = keyOf(who, named('')).length;
    expect(keyOf(who, named('n'.repeat(256 - others)))).toHaveLength(256);
    expect(keyOf(who, named('n'.repeat(257 - others)))).toHaveLength(44); // SHA-256 in base64
  });

  test('has the subject’s part made once for each subject object', () => {
    let reads = 0;
    const subject = {
      ...{ name: 'alice', uid: '1' },
      get groups() {
        reads++;
        return ['staff'];
      },
    };
    const [first, second] = [keyOf(subject, named('a')), keyOf(subject, named('b'))];
    expect([reads, first, second]).toEqual([1, keyOf(who, named('a')), keyOf(who, named('b'))]);
  });

  test('of a long question differs by every character, and from that of every short one', () => {
    const long = 'n'.repeat(14_000);
    const key = keyOf(who, named(`${long}a`));
    expect(keyOf(who, named(`${long}b`))).not.toBe(key);
    expect(keyOf({ ...who, uid: '2' }, named(`${long}a`))).not.toBe(key);
    expect(key.startsWith('[')).toBe(false); // a short question is a JSON array
    expect(keyOf(who, named(`${long}a`))).toBe(key);
  });

  test('does not depend on the order of the groups', () => {
    const what = { nonResource: { path: '/kapis', verb: 'get' } };
    expect(keyOf({ ...who, groups: ['b', 'a'] }, what)).toBe(keyOf({ ...who, groups: ['a', 'b'] }, what));
  });

  test('A-49 is of one flow for one user, whatever its groups, and of one for a service account, whatever its uid', () => {
    const flow = (user: Partial<Subject>): string => decisionKey({ ...who, ...user }, named('n')).flow;
    expect(flow({ groups: [] })).toBe(flow({}));
    expect(flow({ uid: '2' })).not.toBe(flow({}));
    expect(flow({ name: 'bob' })).not.toBe(flow({}));
    const name = 'system:serviceaccount:default:agent';
    expect(flow({ name, uid: '2' })).toBe(flow({ name, uid: '3' }));
    expect(flow({ name: `${name}2`, uid: '2' })).not.toBe(flow({ name, uid: '2' }));
  });
});
