import { describe, expect, test } from 'vitest';
import { FailureThrottle } from '../../../../src/runtime/limits/failure-throttle.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function newBuckets(limit = 2) {
  const clock = new FakeClock();
  return { clock, throttle: new FailureThrottle({ limit, windowMs: 1000 }, clock) };
}

describe('the buckets of a failure throttle', () => {
  test('count a failure at once, and no longer when it is taken back', () => {
    const { throttle } = newBuckets();
    throttle.add('a');
    const second = throttle.add('a');
    expect(throttle.waitMs('a')).toBe(1000);
    second.takeBack();
    expect(throttle.waitMs('a')).toBe(0);
  });

  test('take back what is gone already without a trace', () => {
    const { throttle } = newBuckets(1);
    const failure = throttle.add('a');
    throttle.empty('a');
    failure.takeBack();
    expect([failure.stands(), throttle.waitMs('a')]).toEqual([false, 0]);
  });

  test('say that they are full once for failures at the same time', () => {
    const { throttle } = newBuckets();
    const [first, second] = [throttle.add('a'), throttle.add('a')];
    expect([second.stands(), first.stands()]).toEqual([true, false]);
  });

  test('say it again a window later, and at once when they were emptied in between', async () => {
    const { throttle, clock } = newBuckets(1);
    expect(throttle.add('a').stands()).toBe(true);
    await clock.advance(999);
    expect(throttle.add('a').stands()).toBe(false);
    await clock.advance(1);
    expect(throttle.add('a').stands()).toBe(true);
    throttle.empty('a');
    expect(throttle.add('a').stands()).toBe(true);
  });

  test('A-43 hold 100,000 keys and forget the one that failed longest ago', () => {
    const { throttle } = newBuckets(1);
    for (let index = 0; index < 100_000; index++) throttle.add(`name-${index}`);
    throttle.add('name-0');
    expect(throttle.waitMs('name-1')).toBe(1000);
    throttle.add('one more');
    expect(['name-0', 'name-1', 'name-2', 'one more'].map((key) => throttle.waitMs(key))).toEqual([
      1000, 0, 1000, 1000,
    ]);
  });

  test('keep the failures of a key without text, as of any other', () => {
    const { throttle } = newBuckets(1);
    throttle.add('');
    throttle.add('a');
    expect(throttle.waitMs('')).toBe(1000);
  });

  test('C-33 never answer a negative wait, whatever the wall clock does', async () => {
    const { throttle, clock } = newBuckets(1);
    throttle.add('a');
    for (const jump of [3_600_000, -7_200_000, 86_400_000]) {
      clock.jumpWall(jump);
      expect(throttle.waitMs('a')).toBe(1000);
    }
    await clock.advance(5000);
    expect(throttle.waitMs('a')).toBe(0);
  });
});
