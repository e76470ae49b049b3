import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLoopLoad } from '../../src/runtime/loop-load.ts';
import { FakeClock } from '../support/fake-clock.ts';

const block = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('tells how busy the event loop was since the last look, and looks again after 20 ms', async () => {
  const clock = new FakeClock();
  const load = createLoopLoad(clock);
  block(30);
  expect(load()).toBe(0); // by the clock no time has passed
  await clock.advance(20);
  expect(load()).toBeGreaterThan(0.9);
  await sleep(300);
  expect(load()).toBeGreaterThan(0.9);
  await clock.advance(20);
  expect(load()).toBeLessThan(0.9);
});
