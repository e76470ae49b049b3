import { describe, expect, test } from 'vitest';
import { podNamesOf } from '../../../src/documents/query/pod-names.ts';

const isPodOf = (workload: string, pod: string): boolean => new RegExp(`^(?:${podNamesOf(workload)})$`).test(pod);

/** A name of this length. */
const named = (length: number): string => 'w'.repeat(length);
const C = (length: number): string => 'bcdfghjklm2456789'.slice(0, length);
const X5 = 'a0z9e';

describe('the pods of a workload', () => {
  test.each([
    [1, 10, '-', true],
    [46, 1, '-', true],
    [46, 10, '-', true],
    [46, 11, '-', false],
    [46, 10, '', false],
    [47, 10, '', true],
    [47, 9, '', false],
    [47, 11, '', false],
    [47, 10, '-', false],
    [56, 1, '', true],
    [57, 1, '', false],
    [57, 0, '', true],
  ])('L-09 of %i characters may have a hash of %i with "%s" behind: %s', (length, hash, hyphen, wanted) => {
    expect(isPodOf(named(length), `${named(length)}-${C(hash)}${hyphen}${X5}`)).toBe(wanted);
  });

  test.each([1, 46, 47, 57])('L-09 of %i characters may be those of a DaemonSet', (length) => {
    expect(isPodOf(named(length), `${named(length)}-${X5}`)).toBe(true);
  });

  test.each([58, 63])('L-09 of %i characters begin with the first 58 of them', (length) => {
    expect(isPodOf(named(length), `${named(58)}${X5}`)).toBe(true);
    expect(isPodOf(named(length), `${named(length)}-${X5}`)).toBe(false);
    expect(isPodOf(named(length), `${named(57)}${X5}`)).toBe(false);
  });

  test.each([1, 46, 47, 57, 58, 63])('L-09 of %i characters may be numbered, as a StatefulSet numbers', (length) => {
    expect(isPodOf(named(length), `${named(length)}-0`)).toBe(true);
    expect(isPodOf(named(length), `${named(length)}-123456789`)).toBe(true);
    expect(isPodOf(named(length), `${named(length)}-`)).toBe(false);
  });

  test('L-09 have no vowel in the hash, and exactly five characters behind it', () => {
    for (const pod of ['w-abc-a0z9e', 'w-b1-a0z9e', 'w-bcd-a0z9', 'w-bcd-a0z9ee', 'w-bcd-A0z9e', 'xw-bcd-a0z9e'])
      expect([pod, isPodOf('w', pod)]).toEqual([pod, false]);
  });

  test('L-09 of a name with a dot have the dot', () => {
    expect(isPodOf('api.v1', `api.v1-bcd-${X5}`)).toBe(true);
    for (const pod of [`apixv1-bcd-${X5}`, `api-v1-bcd-${X5}`, 'apixv1-0']) expect(isPodOf('api.v1', pod)).toBe(false);
  });

  test.each(['.*', 'a|b', '(', '[a-z]+', 'w{1,9}', '\\', '"', '#', '@', '~', '<1-9>', '&', 'ü', '\n'])(
    'A-45 of %j are none, and it is no syntax',
    (name) => {
      for (const pod of ['a', 'b', `w-${X5}`, `b-${X5}`, 'anything-0', '5-0']) expect(isPodOf(name, pod)).toBe(false);
      expect(isPodOf(name, `${name}-0`)).toBe(true);
    },
  );
});
