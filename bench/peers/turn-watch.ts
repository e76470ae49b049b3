import { subscribe } from 'node:diagnostics_channel';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ASK_FOR_TURNS, type Turns } from './turns.ts';

/**
 * Loaded into a server under measurement (`--import`), before its program: how long its event loop was held at most. A timer looks
 * each millisecond, so what lies between two looks is one turn and a millisecond at most. Processor time of this thread is told
 * beside the time of the clock, for on a busy machine a thread waits for its turn on a processor as well. Where the kernel counts
 * that time by its ticks, it is some 4 ms too much or too little.
 */
const EVERY_MS = 1;
/** Shorter ones are not looked into. */
const LONG_MS = 10;
/** The observer is told of a collection a little after it. */
const TOLD_MS = 100;

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'young',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'old',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'marking',
};

interface Span {
  readonly startTime: number;
  readonly duration: number;
}
type Collection = Span & { readonly kind: string };
type Turn = Span & { readonly cpuMs: number };

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

/** How much of the one span lies in the other. */
const shared = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.startTime + a.duration, b.startTime + b.duration) - Math.max(a.startTime, b.startTime));

function summary(): Turns {
  const longest = (values: readonly number[]): number => Math.max(0, ...values);
  const longestGc = collections.toSorted((a, b) => b.duration - a.duration)[0];
  const collectedIn = (turn: Turn): number => collections.reduce((sum, one) => sum + shared(turn, one), 0);
  return {
    longestMs: longest(longTurns.map(({ duration }) => duration - EVERY_MS)),
    longestCpuMs: longest(longTurns.map(({ cpuMs }) => cpuMs)),
    longestOwnMs: longest(longTurns.map((turn) => turn.cpuMs - collectedIn(turn))),
    longestGcMs: longestGc?.duration ?? 0,
    gcKind: longestGc?.kind ?? '',
  };
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
  process.send?.(summary());
  forget();
});
process.channel?.unref();
