import { describe, expect, test } from 'vitest';
import { FailureBuckets } from '../../src/runtime/failure-bucket.ts';
import { FakeClock } from '../support/fake-clock.ts';

function newBuckets(limit = 2) {
  const clock = new FakeClock();
  return { clock, buckets: new FailureBuckets({ limit, windowMs: 1000 }, clock) };
}

describe('failure buckets', () => {
  test('count a failure at once, and no longer when it is taken back', () => {
    const { buckets } = newBuckets();
    buckets.add('a');
    const second = buckets.add('a');
    expect(buckets.waitMs('a')).toBe(1000);
    second.takeBack();
    expect(buckets.waitMs('a')).toBe(0);
  });

  test('take back what is gone already without a trace', () => {
    const { buckets } = newBuckets(1);
    const failure = buckets.add('a');
    buckets.empty('a');
    failure.takeBack();
    expect([failure.stands(), buckets.waitMs('a')]).toEqual([false, 0]);
  });

  test('say that they are full once for failures at the same time', () => {
    const { buckets } = newBuckets();
    const [first, second] = [buckets.add('a'), buckets.add('a')];
    expect([second.stands(), first.stands()]).toEqual([true, false]);
  });

  test('say it again a window later, and at once when they were emptied in between', async () => {
    const { buckets, clock } = newBuckets(1);
    expect(buckets.add('a').stands()).toBe(true);
    await clock.advance(999);
    expect(buckets.add('a').stands()).toBe(false);
    await clock.advance(1);
    expect(buckets.add('a').stands()).toBe(true);
    buckets.empty('a');
    expect(buckets.add('a').stands()).toBe(true);
  });

  test('A-43 hold 100,000 keys and forget the one that failed longest ago', () => {
    const { buckets } = newBuckets(1);
    for (let index = 0; index < 100_000; index++) buckets.add(`name-${index}`);
    buckets.add('name-0');
    expect(buckets.waitMs('name-1')).toBe(1000);
    buckets.add('one more');
    expect(['name-0', 'name-1', 'name-2', 'one more'].map((key) => buckets.waitMs(key))).toEqual([1000, 0, 1000, 1000]);
  });

  test('keep the failures of a key without text, as of any other', () => {
    const { buckets } = newBuckets(1);
    buckets.add('');
    buckets.add('a');
    expect(buckets.waitMs('')).toBe(1000);
  });

  test('C-33 never answer a negative wait, whatever the wall clock does', async () => {
    const { buckets, clock } = newBuckets(1);
    buckets.add('a');
    for (const jump of [3_600_000, -7_200_000, 86_400_000]) {
      clock.jumpWall(jump);
      expect(buckets.waitMs('a')).toBe(1000);
    }
    await clock.advance(5000);
    expect(buckets.waitMs('a')).toBe(0);
  });
});
