import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/** Ages and waits pass so many times as fast; the wall clock, by which tokens live, stays. */
export const hurriedClock = (times: number): Clock => ({
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * times,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  after: (ms, run) => systemClock.after(ms / times, run),
});
