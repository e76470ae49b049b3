import { describe, expect, test } from 'vitest';
import { printWatch } from '../../../bench/print-watch.ts';
import type { WatchResults } from '../../../bench/watch.ts';

function resultsOf(lastMs: readonly number[]): WatchResults {
  const moment = { loopDelay: { p99Ms: 12, maxMs: 30 }, serverShare: 0.5, seconds: 2 };
  const idle = { ...moment, residentBytes: 300e6 };
  const busy = { ...moment, residentBytes: 320e6 };
  const report = { residentBefore: 100e6, openMs: 2_000, idle, busy, firstMs: lastMs.map(() => 50), lastMs, lost: 0 };
  return { nodes: 100, watchers: 10_000, report };
}

describe('the results of watchers', () => {
  test('say what each costs, and that every change reached all in time', () => {
    const text = printWatch(resultsOf([200, 1_000]));
    expect(text).toContain('10,000 watchers of 100 nodes: the server');
    expect(text).toContain('All had begun after 2.00 s; 20.0 kB for each; 0 were cut off.');
    expect(text).toContain("A change took 500 ms of the server's CPU.");
    expect(text).toMatch(/by all +200 +1,000 +≤ 1000 +met/);
  });

  test('miss the target by one change that did not', () => {
    expect(printWatch(resultsOf([200, 1_001]))).toContain('MISSED');
  });
});
