import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { createLoopLoad } from '../../src/runtime/loop-load.ts';

/** A clock and an event loop that do as they are told. */
function start() {
  const times = { active: 1_000, idle: 5_000 };
  let now = 0;
  const load = createLoopLoad({ monotonic: () => now }, () => ({ ...times }));
  const pass = (ms: number, busyMs: number): void => {
    now += ms;
    times.active += busyMs;
    times.idle += ms - busyMs;
  };
  return { load, pass };
}

describe('the load of the event loop', () => {
  test('is the share of the time that it was busy since the last look', () => {
    const { load, pass } = start();
    pass(20, 5);
    expect(load()).toBe(0.25);
    pass(40, 40);
    expect(load()).toBe(1);
    pass(100, 0);
    expect(load()).toBe(0);
  });

  test('is looked at again after 20 ms, and then since the look before', () => {
    const { load, pass } = start();
    pass(19, 19);
    expect(load()).toBe(0);
    pass(21, 11);
    expect(load()).toBe(0.75);
    pass(19, 0);
    expect(load()).toBe(0.75);
    pass(1, 0);
    expect(load()).toBe(0);
  });

  test('is 0 while the loop has not begun to work or to wait', () => {
    let now = 0;
    const load = createLoopLoad({ monotonic: () => now }, () => ({ active: 0, idle: 0 }));
    now += 20;
    expect(load()).toBe(0);
  });
});

test("the loop is this thread's: it was busy throughout when it has not turned", () => {
  let now = 0;
  const load = createLoopLoad({ monotonic: () => now });
  now += 20;
  const { active } = performance.eventLoopUtilization();
  while (performance.eventLoopUtilization().active === active);
  expect(load()).toBe(1); // whatever else runs here or on the machine: a loop waits only between two turns
});
