import { describe, expect, test } from 'vitest';
import { printWatch } from '../../../bench/print-watch.ts';
import type { WatchResults } from '../../../bench/watch.ts';

const PROBES = { probes: 100, statuses: { 200: 100 }, p50Ms: 1, p99Ms: 7, maxMs: 9 };

function resultsOf(lastMs: readonly number[], change: object = {}): WatchResults {
  const moment = {
    loopDelay: { p99Ms: 12, maxMs: 30 },
    serverShare: 0.5,
    readerShare: 0.25,
    seconds: 2,
    probes: PROBES,
  };
  const idle = { ...moment, serverShare: 0.2, residentBytes: 300e6 };
  const busy = { ...moment, residentBytes: 320e6, ...change };
  const report = {
    residentBefore: 100e6,
    openMs: 2_000,
    idle,
    busy,
    firstMs: lastMs.map(() => 50),
    lastMs,
    lost: 0,
    cutOff: 3,
    bytesAChange: 120e6,
  };
  return { nodes: 100, watchers: 10_000, slow: 3, forms: [{ name: 'whole nodes', report }] };
}

describe('the results of watchers', () => {
  test('say what each costs, and that every change reached all in time', () => {
    const text = printWatch(resultsOf([200, 1_000]));
    expect(text).toContain('10,000 watchers of 100 nodes, whole nodes: the server');
    expect(text).toContain(
      'All had begun after 2.00 s; 20.0 kB for each; 0 were cut off, of 3 others that read nothing 3.',
    );
    expect(text).toContain("A change took 500 ms of the server's CPU and 250 ms of the reader's. Where");
    expect(text).toMatch(/2 changes +320 MB +12\.0 +30\.0 +1\.00 +7\.00 +9\.00 +50 %/);
    expect(text).toMatch(/by all +200 +1,000 +≤ 1000 +met/);
  });

  test('say what a change costs in each form', () => {
    expect(printWatch(resultsOf([200, 1_000]))).toMatch(/\nwhole nodes +12,000 +120 MB +500 +300 +200 +1,000\n/);
  });

  test('tell what of it was the server’s writing, where it was told', () => {
    expect(printWatch(resultsOf([200]))).not.toContain('the server wrote');
    const told = { meanMs: 180, slowestMs: 250 };
    expect(printWatch(resultsOf([200], { told }))).toMatch(/of this the server wrote for +180 \(mean\) +≤ 250 +–/);
  });

  test('say when the reader was what was measured', () => {
    expect(printWatch(resultsOf([200], { readerShare: 0.9 }))).toContain('the figures are the reader’s own');
  });

  test('miss the target by one change that did not', () => {
    expect(printWatch(resultsOf([200, 1_001]))).toContain('MISSED');
  });
});
