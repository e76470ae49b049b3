import { randomFill } from 'node:crypto';
import { promisify } from 'node:util';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { LostLines } from './buffered-output.ts';

/** The labels of `gatehouse_build_info`. */
export interface BuildLabels {
  /** Semantic version without `v`. */
  readonly version: string;
  readonly gitCommit: string;
  readonly nodeVersion: string;
}

/** Gauges that the client library names like counters. Its other metrics have the same values, by type. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The one registry of the process, with the client library's `process_*` and `nodejs_*` metrics. */
export function createMetricRegistry(build: BuildLabels): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'gatehouse_build_info',
    help: 'Always 1; the labels say what was built.',
    labelNames: ['version', 'commit', 'node_version'],
    registers: [registry],
  }).set({ version: build.version, commit: build.gitCommit, node_version: build.nodeVersion }, 1);
  return registry;
}

/**
 * Exposes the memory limit of the container. It is read at each scrape, because a pod can be resized in place. Without a limit
 * there is no value.
 */
export function registerMemoryLimit(registry: Registry, limitBytes: () => number = () => 0): void {
  new Gauge({
    name: 'gatehouse_memory_limit_bytes',
    help: 'The memory limit of the container; no value without one.',
    registers: [registry],
    collect() {
      const limit = limitBytes();
      // Without a limit the kernel shows 0 or a number near 2^63 or 2^64.
      if (limit > 0 && limit <= Number.MAX_SAFE_INTEGER) this.set(limit);
      else this.remove();
    },
  });
}

/** A registry for a command that ends before anybody could read its metrics. */
export const createUnreadRegistry = (): Registry => new Registry();

const NOTHING_LOST: LostLines = { audit: 0, other: 0 };

/** Exposes how many log lines were dropped because nobody read the output. */
export function registerLostLines(registry: Registry, lostLines: () => LostLines = () => NOTHING_LOST): void {
  new Counter({
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Log lines that were dropped because nobody read the output, by whether they were of the audit trail.',
    labelNames: ['trail'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [trail, lines] of Object.entries(lostLines())) this.inc({ trail }, lines);
    },
  });
}

/** One probe a second shows a blocked pool within one scrape, and costs too little to be measured. */
const PROBE_INTERVAL_MS = 1_000;

const fillFromPool = promisify(randomFill<Buffer>);

/**
 * Measures how long work waits for the thread pool, which password hashing, DNS and files share, by requesting one
 * random byte every second. `run` lives until the signal aborts.
 */
export function createThreadpoolProbe(registry: Registry, clock: Clock): { run(signal: AbortSignal): Promise<void> } {
  const delay = new Histogram({
    name: 'gatehouse_threadpool_delay_seconds',
    help: 'Time until the thread pool has done a trivial piece of work.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  return {
    run: async (signal) => {
      const byte = Buffer.alloc(1);
      while (!signal.aborted) {
        const startedAt = clock.monotonic();
        await fillFromPool(byte);
        delay.observe((clock.monotonic() - startedAt) / 1_000);
        await clock.sleep(PROBE_INTERVAL_MS, signal);
      }
    },
  };
}
