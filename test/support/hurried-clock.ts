import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/** A clock on which ages and waits pass this many times as fast. Its wall clock, which tokens use, is the normal one. */
export const hurriedClock = (times: number): Clock => ({
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * times,
  sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  after: (ms, run) => systemClock.after(ms / times, run),
});
