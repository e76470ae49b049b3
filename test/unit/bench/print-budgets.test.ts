import { describe, expect, test } from 'vitest';
import type { LoadReport } from '../../../bench/load/load.ts';
import type { ProbeReport } from '../../../bench/load/probes.ts';
import type { Turns } from '../../../bench/peers/turns.ts';
import { printChurn } from '../../../bench/print-churn.ts';
import { drawCurve, printCurve } from '../../../bench/print-curve.ts';
import { printPages } from '../../../bench/print-pages.ts';
import { printSize } from '../../../bench/print-size.ts';
import { printSoak } from '../../../bench/print-soak.ts';
import { printStorm } from '../../../bench/print-storm.ts';
import { printTurns } from '../../../bench/print-turns.ts';
import type { Measured } from '../../../bench/results.ts';
import type { SoakResults } from '../../../bench/soak.ts';
import type { StormResults } from '../../../bench/storm.ts';

const load = (requestsPerSecond: number, p99Ms = 2): LoadReport => ({
  requests: requestsPerSecond,
  requestsPerSecond,
  p50Ms: 1,
  p99Ms,
  bytesPerAnswer: 1e5,
  generatorShare: 0.5,
});
const probes = (statuses: Record<string, number>, p99Ms = 10): ProbeReport => ({
  probes: Object.values(statuses).reduce((sum, times) => sum + times, 0),
  statuses,
  p50Ms: 1,
  p99Ms,
  maxMs: 20,
});
const turns = (longestCpuMs: number, longestOwnMs: number): Turns => ({
  longestMs: 60,
  longestCpuMs,
  longestOwnMs,
  longestGcMs: 11,
  gcKind: 'old',
});
const rowOf = (text: string, name: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .replace(/ {2,}/g, ' | ');

describe('bench results of the budgets', () => {
  test('judge a page by its ratio to the short list, and a selector by its 99th percentile', () => {
    const pages = [
      { coding: 'identity', page: load(70), list: load(100) },
      { coding: 'gzip', page: load(69), list: load(100) },
    ] as const;
    const text = printPages({ nodes: 5_000, pages, selector: [load(1, 5)], selectorChanging: [load(1, 5.1)] });
    expect(rowOf(text, 'identity')).toBe('70.0 | 100 | 0.70 | ≥ 0.7 | met');
    expect(rowOf(text, 'gzip')).toBe('69.0 | 100 | 0.69 | ≥ 0.7 | MISSED');
    expect(rowOf(text, 'nodes as they are')).toBe('1.00 | 5.00 | ≤ 5 | met');
    expect(rowOf(text, '100 node updates a second')).toBe('1.00 | 5.10 | ≤ 5 | MISSED');
  });

  test('judge memory after sync and at its peak, and each start that has a target', () => {
    const memory = { afterSync: 301e6, syncPeak: 302e6, afterLoad: 390e6, peak: 400e6 };
    const startUps = [
      { nodes: 10, startToReadyMs: [900, 1_100, 1_000] },
      { nodes: 100, startToReadyMs: [5] },
    ];
    const text = printSize({ nodes: 5_000, pods: 150_000, startToReadyMs: 1, memory, startUps });
    expect(rowOf(text, 'after sync')).toBe('301 MB | ≤ 300 MB | MISSED');
    expect(rowOf(text, 'peak ')).toBe('during sync | 302 MB | ≤ 400 MB | met');
    expect(rowOf(text, '10 ')).toBe('1,000 | 1,100 | ≤ 1,000 | met');
    expect(rowOf(text, '100 ')).toBe('5.00 | 5.00 | –');
  });

  test('say what changes of nodes leave of the lists without them', () => {
    const cell = (perSecond: number, requests: number) =>
      ({ coding: 'gzip', perSecond, changesPerSecond: perSecond, load: load(requests), loopDelayMs: 3 }) as const;
    const text = printChurn({ nodes: 1_000, cells: [cell(0, 400), cell(100, 300)] });
    expect(rowOf(text, 'gzip, 100 updates a second')).toBe('100 | 300 | 75 % | 1.00 | 2.00 | – | 3.00');
  });

  test('C-29 judge loop, list and sight of a change while events pour in', () => {
    const storm: StormResults = {
      nodes: 15_000,
      pods: 150_000,
      seconds: 30,
      eventsPerSecond: 5_000,
      idle: probes({ 200: 100 }, 10),
      busy: probes({ 200: 99, none: 1 }, 21),
      visible: { latenciesMs: [1, 2, 1_000], polls: 9, changesPerSecond: 100 },
      loopDelayMs: 50,
      turns: turns(51, 40),
      serverShare: 0.5,
      peakBytes: 5e8,
    };
    const text = printStorm(storm);
    expect(rowOf(text, 'a node change in sight, p99 ms')).toBe('1,000 | ≤ 1,000 | met');
    expect(rowOf(text, 'loop delay, p99 ms')).toBe('50.0 | ≤ 50 | met');
    expect(rowOf(text, 'longest turn, ms of processor time')).toBe('51.0 | ≤ 50 | MISSED');
    expect(rowOf(text, '… without collections of garbage')).toBe('40.0 | –');
    expect(rowOf(text, 'page of ten, p99 ms')).toBe('21.0 | ≤ 20.0 | MISSED');
    expect(rowOf(text, 'probes answered 200')).toBe('99 % | –');
  });
});

test('bench results of turns judge the longest of each step by its processor time, and tell what of it is garbage', () => {
  const steps = [
    { name: 'first sync', ...turns(50, 42) },
    { name: 'first list', ...turns(50.1, 40) },
  ];
  const text = printTurns([{ nodes: 15_000, pods: 450_000, steps }]);
  expect(text).toContain('15,000 nodes of 12 kB and 450,000 pods');
  expect(rowOf(text, 'first sync')).toBe('50.0 | 42.0 | 60.0 | old 11.0 | ≤ 50 | met');
  expect(rowOf(text, 'first list')).toBe('50.1 | 40.0 | 60.0 | old 11.0 | ≤ 50 | MISSED');
});

describe('bench results of a soak', () => {
  const soak: SoakResults = {
    minutes: 60,
    seed: 7,
    nodes: 1_000,
    pods: 10_000,
    outageMinutes: 10,
    faults: ['503, 3 s', 'outage, 600 s'],
    probes: probes({ 200: 36_000 }),
    memory: { first: 200e6, last: 200.5e6, minutes: 50 },
    slopePerHour: 0.6e6,
    before: { all: 30, sockets: 9 },
    after: { all: 31, sockets: 9 },
  };

  test('R-19 judge the slope of memory and tell what was open before and after', () => {
    const text = printSoak(soak);
    expect(rowOf(text, 'resident memory an hour, over the last 50.0 min, 200 MB to 201 MB')).toBe(
      '+0.60 MB | < 1 MB | met',
    );
    expect(rowOf(text, 'open files before, after')).toBe('30 (9 sockets), 31 (9 sockets) | as before');
    expect(text).toContain('Repeat it with --seed 7. Faults: 503, 3 s; outage, 600 s.');
  });

  test('R-11 do not round one lost probe of 36,000 up', () => {
    const text = printSoak({
      ...soak,
      probes: { ...probes({ 200: 35_999, 503: 1 }), missed: { firstMs: 7_000, lastMs: 7_000 } },
    });
    expect(rowOf(text, 'answered 200')).toBe('99.99 % | 100 % | MISSED');
    expect(text).toContain('Other answers: 503 1 times, from second 7.00 to second 7.00.');
  });

  test('R-19 leave the slope of a short soak unjudged', () => {
    const text = printSoak({ ...soak, minutes: 2, slopePerHour: 140e6 });
    expect(rowOf(text, 'resident memory an hour, over the last 50.0 min, 200 MB to 201 MB')).toBe(
      '+140 MB | < 1 MB | –',
    );
  });
});

describe('bench curve', () => {
  const at = (nodes: number, peers: Record<string, number>): Measured => ({
    cluster: 'a',
    nodes,
    cells: Object.entries(peers).map(([peer, rate]) => ({ peer, coding: 'gzip', rounds: [load(rate)] })),
    memory: { afterSync: 1e8, syncPeak: 1e8, afterLoad: 2e8, peak: 2e8 },
    visible: { latenciesMs: [1], polls: 1, changesPerSecond: 100 },
  });

  test('has a row for each size and a column for each server', () => {
    const measured = [at(10, { Gatehouse: 900, 'bare node:http': 1_000, nginx: 2_000 })];
    expect(rowOf(printCurve({ measured }), '10 ')).toBe('– | – | – | 900 | 1,000 | 2,000 | 200 MB');
  });

  test('says why the columns of nginx are empty', () => {
    const text = printCurve({ measured: [at(10, { Gatehouse: 900 })] });
    expect(text).toContain('nginx is not installed (Debian package nginx-light): its columns are empty.');
  });

  test('draws a line for each server that was measured', () => {
    const measured = [at(10, { Gatehouse: 900, nginx: 2_000 }), at(100, { Gatehouse: 500, nginx: 900 })];
    expect(drawCurve({ measured }).match(/<polyline/g)).toHaveLength(3); // two servers, and memory
  });
});
