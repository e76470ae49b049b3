import { describe, expect, test } from 'vitest';
import { createRequestIds } from '../../../../src/http/chain/begin.ts';

describe('request ids', () => {
  test('are 16 hex digits of the given chance, never the same bytes twice', () => {
    let drawn = 0;
    const nextId = createRequestIds({
      bytes: (length) => Buffer.alloc(length).fill(drawn++),
      fraction: () => 0,
    });
    expect(nextId()).toBe('0000000000000000');
    for (let index = 1; index < 512; index++) nextId();
    expect(nextId()).toBe('0101010101010101');
    expect(drawn).toBe(2);
  });
});
