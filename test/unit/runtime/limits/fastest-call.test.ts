import { expect, test } from 'vitest';
import { FastestCall } from '../../../../src/runtime/limits/fastest-call.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('a call is slow that took half of the patience and four times the fastest', () => {
  const fastest = new FastestCall(new FakeClock(), 3_000);
  expect([400, 1_600, 1_601].map((ms) => fastest.isSlow(ms))).toEqual([false, false, true]);
  expect([10, 1_500, 1_501].map((ms) => fastest.isSlow(ms))).toEqual([false, false, true]);
});

test('a call that takes as long as all of the last minute is not slow', async () => {
  const clock = new FakeClock();
  const fastest = new FastestCall(clock, 3_000);
  const slow = [fastest.isSlow(10)];
  for (let half = 0; half < 3; half++) {
    slow.push(fastest.isSlow(2_000));
    await clock.advance(30_000);
  }
  expect([...slow, fastest.isSlow(2_000)]).toEqual([false, true, true, false, false]);
});
