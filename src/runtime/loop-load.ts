import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

/** Long enough to be told from the work of one request, and short enough that a flood is noticed at once. */
const WINDOW_MS = 20;

/** Tells which share of the time the event loop was busy, of late: from 0 to 1. Measures anew when asked, at most once in 20 ms. */
export function createLoopLoad(clock: Pick<Clock, 'monotonic'>): () => number {
  let measuredAt = clock.monotonic();
  let before = performance.eventLoopUtilization();
  let load = 0;
  return () => {
    const now = clock.monotonic();
    if (now - measuredAt < WINDOW_MS) return load;
    const current = performance.eventLoopUtilization();
    load = performance.eventLoopUtilization(current, before).utilization;
    before = current;
    measuredAt = now;
    return load;
  };
}
