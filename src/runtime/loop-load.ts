import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

/** Long enough that one request alone does not count as load, and short enough that a flood is noticed at once. */
const WINDOW_MS = 20;

/** How long an event loop has worked and waited since it started. */
export interface LoopTimes {
  readonly active: number;
  readonly idle: number;
}

const thisLoop = (): LoopTimes => performance.eventLoopUtilization();

/**
 * Returns a function that returns the share of recent time in which the event loop was busy, from 0 to 1. It measures when it is
 * called, at most every 20 ms. The loop is this thread's unless a test passes another.
 */
export function createLoopLoad(clock: Pick<Clock, 'monotonic'>, read: () => LoopTimes = thisLoop): () => number {
  let measuredAt = clock.monotonic();
  let before = read();
  let load = 0;
  return () => {
    const now = clock.monotonic();
    if (now - measuredAt < WINDOW_MS) return load;
    const current = read();
    load = shareOf(current.active - before.active, current.idle - before.idle);
    before = current;
    measuredAt = now;
    return load;
  };
}

/** A loop that has not started yet has neither worked nor waited. */
const shareOf = (active: number, idle: number): number => (active > 0 ? active / (active + idle) : 0);
