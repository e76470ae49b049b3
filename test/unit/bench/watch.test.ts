import { describe, expect, test } from 'vitest';
import { printWatch, type WatchResults } from '../../../bench/watch.ts';
import { rowOf } from './rows.ts';

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
  test('share what is used among watchers and changes', () => {
    const text = printWatch(resultsOf([200, 1_000]));
    expect(text).toContain('20.0 kB for each'); // of 300 MB, 100 MB before, among 10,000
    expect(text).toContain("A change took 500 ms of the server's CPU and 250 ms of the reader's."); // half and a quarter of two seconds, by two
    expect(rowOf(text, 'whole nodes ')).toBe('12,000 | 120 MB | 500 | 300 | 200 | 1,000');
  });

  test('meet the target when every change reached all in a second, and miss it by one that did not', () => {
    expect(rowOf(printWatch(resultsOf([200, 1_000])), 'by all')).toBe('200 | 1,000 | ≤ 1000 | met');
    expect(rowOf(printWatch(resultsOf([200, 1_001])), 'by all')).toBe('200 | 1,001 | ≤ 1000 | MISSED');
  });

  test('say when the reader was what was measured', () => {
    expect(printWatch(resultsOf([200], { readerShare: 0.9 }))).toContain('the figures are the reader’s own');
    expect(printWatch(resultsOf([200]))).not.toContain('the figures are the reader’s own');
  });
});
