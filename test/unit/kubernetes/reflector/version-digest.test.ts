import { expect, test } from 'vitest';
import { VersionDigest } from '../../../../src/kubernetes/reflector/self-check.ts';

const entry = (key: string, version: number, uid = `uid-${key}`) => ({ key, uid, resourceVersion: String(version) });

function digestOf(...entries: readonly ReturnType<typeof entry>[]): VersionDigest {
  const digest = new VersionDigest();
  for (const one of entries) digest.add(one);
  return digest;
}

test('the digest is that of a set: any order, any number', () => {
  expect(digestOf(entry('a', 1), entry('b', 2)).equals(digestOf(entry('b', 2), entry('a', 1)))).toBe(true);
  expect(digestOf(entry('a', 1)).equals(digestOf(entry('a', 1), entry('a', 1)))).toBe(false);
  expect(digestOf().equals(digestOf())).toBe(true);
});

test.each([
  ['key', entry('b', 1, 'uid-a')],
  ['uid', entry('a', 1, 'uid-b')],
  ['version', entry('a', 2)],
])('C-24 another %s has another digest', (_member, other) => {
  expect(digestOf(entry('a', 1)).equals(digestOf(other))).toBe(false);
});

test('C-30 two changes that were lost do not cancel each other out, whatever their last digits', () => {
  const before = digestOf(entry('node-4', 1_000), entry('node-0', 1_001));
  let equal = 0;
  for (let a = 1_000; a < 1_100; a++) {
    for (let b = 1_001; b < 1_101; b++) {
      const isSame = a === 1_000 && b === 1_001;
      if (!isSame && before.equals(digestOf(entry('node-4', a), entry('node-0', b)))) equal++;
    }
  }
  expect(equal).toBe(0);
});

test('C-24 one object has another digest at each of twenty thousand versions', () => {
  const digests = Array.from({ length: 20_000 }, (_, version) => digestOf(entry('node-4', version)));
  const bases = digests.filter((_, at) => at % 400 === 0);
  const equal = bases.map((base) => digests.filter((digest) => digest.equals(base)).length);
  expect(new Set(equal)).toEqual(new Set([1])); // itself
});
