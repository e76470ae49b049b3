import { describe, expect, test } from 'vitest';
import { boundedMemo } from '../../../../src/nodes/usage/pod-store.ts';

describe('a bounded memo', () => {
  test('makes the value of each key once, and everything anew when one more comes than it remembers', () => {
    const made: string[] = [];
    const upperCase = boundedMemo(2, (key: string) => {
      made.push(key);
      return key.toUpperCase();
    });
    const values = ['a', 'b', 'a', 'b', 'c', 'c', 'a', 'c'].map(upperCase);
    expect(values.join('')).toBe('ABABCCAC');
    expect(made.join('')).toBe('abca');
  });
});
