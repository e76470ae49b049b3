import { describe, expect, test } from 'vitest';
import { createRefusedTokens } from '../../../../src/oauth/endpoints/token-review.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CAPACITY = 32_000;

function refusedTokens() {
  const clock = new FakeClock();
  return { clock, refused: createRefusedTokens(clock, systemRandom) };
}

describe('refused tokens', () => {
  test('A-44 are known for 10 s, and no longer for being asked for', async () => {
    const { clock, refused } = refusedTokens();
    refused.add('a', 'expired');
    await clock.advance(9_999);
    expect(refused.get('a')).toBe('expired');
    await clock.advance(1);
    expect(refused.get('a')).toBeUndefined();
  });

  test('A-44 are 32,000 at most: the oldest is forgotten first', () => {
    const { refused } = refusedTokens();
    for (let number = 0; number < CAPACITY; number++) refused.add(`${number}`, 'invalid');
    expect(refused.get('0')).toBe('invalid');
    refused.add('one more', 'invalid');
    expect(refused.get('0')).toBeUndefined();
    expect(refused.get('1')).toBe('invalid');
    expect(refused.get('one more')).toBe('invalid');
  });

  test('A-44 that come again do not push out others', () => {
    const { refused } = refusedTokens();
    refused.add('first', 'invalid');
    for (let time = 0; time < CAPACITY; time++) refused.add('again', 'invalid');
    expect(refused.get('first')).toBe('invalid');
  });
});
