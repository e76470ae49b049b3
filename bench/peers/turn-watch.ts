import { subscribe } from 'node:diagnostics_channel';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ASK_FOR_TURNS, type Collection, summaryOf, type Turn } from './turns.ts';

/**
 * Loaded into a server under measurement (`--import`), before its program. Measures how long the event loop was blocked
 * at most. A timer looks each millisecond, so the time between two looks is one turn and at most a millisecond. The
 * processor time of this thread is reported together with the time of the clock, because on a busy machine a thread
 * also waits for a processor. Where the kernel counts processor time by its ticks, it may be wrong by some 4 ms. Node
 * reports the pauses of a collection. It does not report the marking and sweeping between two pauses, so these count as
 * the code's.
 */
const EVERY_MS = 1;
/** Shorter turns are ignored. */
const LONG_MS = 10;
/** The observer learns of a collection a little later. */
const TOLD_MS = 100;

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'young',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'old',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'marking',
};

let collections: Collection[] = [];
let longTurns: Turn[] = [];
let lookedAt = performance.now();
let usedUs = usedMicroseconds();

function usedMicroseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function look(): void {
  const now = performance.now();
  const used = usedMicroseconds();
  const duration = now - lookedAt;
  if (duration >= LONG_MS) longTurns.push({ startTime: lookedAt, duration, cpuMs: (used - usedUs) / 1_000 });
  lookedAt = now;
  usedUs = used;
}

function forget(): void {
  collections = [];
  longTurns = [];
  look();
  longTurns = [];
}

setInterval(look, EVERY_MS).unref();
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { startTime, duration, detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
    collections.push({ startTime, duration, kind: KINDS[detail.kind] ?? 'other' });
  }
}).observe({ entryTypes: ['gc'] });
// Reading and compiling the program is one long turn of a process that serves nobody yet.
subscribe('tracing:net.server.listen:asyncEnd', forget);
process.on('message', async (message) => {
  if (message !== ASK_FOR_TURNS) return;
  await sleep(TOLD_MS);
  process.send?.(summaryOf(longTurns, collections, EVERY_MS));
  forget();
});
process.channel?.unref();
