import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/** Ages and waits pass this many times as fast. The wall clock, which tokens use, does not change. */
export const hurriedClock = (times: number): Clock => ({
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * times,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  after: (ms, run) => systemClock.after(ms / times, run),
});
