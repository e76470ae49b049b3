import { describe, expect, test } from 'vitest';
import { type BrowserResults, floodPeople, printBrowser } from '../../../bench/browser.ts';
import type { LoadReport } from '../../../bench/load/load.ts';
import type { ProbeReport } from '../../../bench/load/probes.ts';
import { printVisits, type VisitResults } from '../../../bench/visits.ts';
import { rowOf } from './rows.ts';

const load = (requestsPerSecond: number, serverShare = 1): LoadReport => ({
  requests: requestsPerSecond,
  requestsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  bytesPerAnswer: 3_000,
  generatorShare: 0.5,
  serverShare,
});
const signIns = (each: number, serverShare: number) => ({ statuses: { 200: each, 429: 1 }, seconds: 1, serverShare });
const linesWith = (text: string, part: string): string[] => text.split('\n').filter((line) => line.includes(part));

describe('bench results of the sign-in page', () => {
  const results: BrowserResults = {
    nodes: 100,
    pages: [{ own: load(5_000), peer: load(2_500) }],
    signIns: [{ browser: signIns(19, 1), password: { ...signIns(20, 1), refreshTokens: [] } }],
    floods: [{ alone: load(1_000), flooded: load(600), flood: signIns(1, 1) }],
  };

  test('R-27 judge pages a second, whole sign-ins by the password grant, and the list beside them by R-02', () => {
    const text = printBrowser(results);
    expect(rowOf(text, 'Gatehouse: the page')).toBe('5,000 | 1.00 | 2.00 | 3,000 | 200 | 50 %');
    expect(linesWith(text, 'target')).toEqual([
      'Pages a second, target ≥ 5,000: met. Gatehouse / oidc-provider: 2.00, by processor time 2.00.',
      'By browser / by the password grant: 0.95 (rounds: 0.95), target ≥ 0.95: met; by processor time 0.95.',
      'Kept of its requests: 60 %, target ≥ 60 %: met. p99 flooded, target ≤ 50 ms: met.',
    ]);
    const slow = { ...results, pages: [{ own: load(4_999), peer: load(1) }] };
    expect(linesWith(printBrowser(slow), 'MISSED')).toHaveLength(1);
  });

  test('a flood has as many wrong passwords as unknown names and right passwords', () => {
    const [wrong, unknown, right] = floodPeople('made-up');
    expect([wrong, unknown, right]).toEqual([
      { username: 'bench-0000', password: 'xxxxxxx' },
      { username: 'noone-0000', password: 'made-up' },
      { username: 'bench-0000', password: 'made-up' },
    ]);
  });
});

describe('bench results of anonymous visits', () => {
  const probes = (p99Ms: number): ProbeReport => ({ probes: 100, statuses: { 200: 100 }, p50Ms: 1, p99Ms, maxMs: 9 });
  const visits = (status: string) => ({ statuses: { [status]: 1_000 }, seconds: 2, p50Ms: 1, p99Ms: 2 });
  const mark = (at: number, heapUsed: number, rss: number) => ({
    visits: at,
    memory: { heapUsed, rss, arrayBuffers: 3e6 },
  });
  const results: VisitResults = {
    nodes: 100,
    rounds: [{ idle: probes(5), paced: probes(6), flooded: probes(10), visits: [visits('200'), visits('200')] }],
    marks: [mark(20, 30e6, 150e6), mark(60, 35e6, 151e6), mark(100, 31e6, 160e6)],
    statuses: { 200: 2_000 },
    written: 0,
  };

  test('R-27 judge answers, writes, the list beside them and the memory that they leave', () => {
    const text = printVisits(results);
    expect(linesWith(text, 'target')).toEqual([
      'The visits were answered 200 2,000 times: met. Writes to the cluster: 0, target 0: met.',
      'p99 beside 500 visits a second, × alone, target ≤ 1.2: met.',
      'Growth from the first to the last: heap 1.00 MB, target ≤ 1.00 MB: met; resident 10.0 MB, target ≤ 10.0 MB: met.',
    ]);
    expect(rowOf(text, '500 visits a second')).toBe('1.00 | 6.00 | 1.20');
    expect(rowOf(text, 'visits without a pause, 500 a second')).toBe('1.00 | 10.0 | 2.00');
  });

  test('say what is missed', () => {
    const worse = {
      ...results,
      statuses: { 200: 1, 429: 1 },
      written: 1,
      marks: [mark(20, 30e6, 150e6), mark(100, 31.1e6, 161e6)],
      rounds: results.rounds.map((round) => ({ ...round, paced: probes(6.1) })),
    };
    expect(printVisits(worse).match(/MISSED/g)).toHaveLength(5);
  });
});
