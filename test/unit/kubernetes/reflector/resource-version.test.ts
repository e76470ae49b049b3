import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareResourceVersions } from '../../../../src/kubernetes/object.ts';
import { check } from '../../../support/property.ts';

describe('resourceVersion order', () => {
  test('agrees with the numbers that the text stands for, beyond what a number can hold', () => {
    const version = fc.bigInt({ min: 0n, max: 2n ** 128n });
    check(
      fc.property(version, version, (a, b) => {
        const order = Math.sign(compareResourceVersions(String(a), String(b)));
        expect(order).toBe(a < b ? -1 : Number(a > b));
      }),
    );
  });

  test('tells versions apart that are one number to a double', () => {
    expect(compareResourceVersions('9007199254740993', '9007199254740992')).toBeGreaterThan(0);
  });

  test('takes no version as older than every version', () => {
    expect(compareResourceVersions('', '0')).toBeLessThan(0);
  });
});
