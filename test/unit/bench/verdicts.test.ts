import { describe, expect, test } from 'vitest';
import { printChurn } from '../../../bench/churn.ts';
import { type ListResults, printLists } from '../../../bench/lists.ts';
import type { LoadReport } from '../../../bench/load/load.ts';
import type { ProbeReport } from '../../../bench/load/probes.ts';
import { printNamespaces } from '../../../bench/namespaces.ts';
import { printPages } from '../../../bench/pages.ts';
import type { Turns } from '../../../bench/peers/turns.ts';
import { printSearches } from '../../../bench/searches/searches.ts';
import { leastRatio } from '../../../bench/side-by-side.ts';
import { printSize } from '../../../bench/size.ts';
import { printStorm, type StormResults } from '../../../bench/storm.ts';
import { printTurns } from '../../../bench/turns.ts';
import { rowOf } from './rows.ts';

/** What the tables say of targets, and the figures that are worked out for them. */

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
  longestCpuGcMs: 9,
  longestOwnMs,
  longestGcMs: 11,
  gcKind: 'old',
});
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

  test('judge searches by the time that they add to those of the store, round by round, and by what they leave in memory', () => {
    const rounds = [
      { store: [4, 5, 9], ours: [6, 7.5, 8] },
      { store: [1, 1, 1], ours: [4.5, 4.5, 4.5] },
      { store: [6, 6, 6], ours: [9, 9, 9] },
    ];
    const kind = { name: 'events', documents: 12_320, found: 960, rounds };
    const printed = (grown: number, kept: number) => printSearches({ kinds: [{ ...kind, memory: { grown, kept } }] });
    const text = printed(16e6, 1.01e6);
    expect(rowOf(text, 'events: 960 of 12,320, at the store, p50, ms')).toBe('5.00');
    expect(rowOf(text, 'events: the same through Gatehouse, p50, ms')).toBe('7.50');
    expect(rowOf(text, 'events: added, ms')).toBe('3.00 | ≤ 3 | met');
    expect(rowOf(text, 'events: resident memory grown by 2,000 searches')).toBe('16.0 MB | ≤ 16.0 MB | met');
    expect(rowOf(text, 'events: heap and buffers kept of them')).toBe('1.01 MB | ≤ 1.00 MB | MISSED');
    expect(rowOf(printed(16.1e6, 1e6), 'events: resident memory')).toContain('MISSED');
    expect(rowOf(printed(0, -1e6), 'events: heap and buffers kept of them')).toContain('met');
  });

  test('judge a list of namespaces by its ratio to one of nodes that has as many bytes, not the compressed ones', () => {
    const rounds = [
      { coding: 'identity', namespaces: load(89), nodes: load(100) },
      { coding: 'gzip', namespaces: load(50), nodes: load(100) },
    ] as const;
    const text = printNamespaces({ namespaces: 5_000, nodes: 400, rounds });
    expect(rowOf(text, 'identity')).toBe('0.10 MB | 0.10 MB | 89.0 | 100 | 0.89 | ≥ 0.9 | MISSED');
    expect(rowOf(text, 'gzip')).toBe('0.10 MB | 0.10 MB | 50.0 | 100 | 0.50 | –');
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
    expect(rowOf(text, 'longest turn less its collections of garbage')).toBe('40.0 | –');
    expect(rowOf(text, 'page of ten, p99 ms')).toBe('21.0 | ≤ 20.0 | MISSED');
    expect(rowOf(text, 'probes answered 200')).toBe('99 % | –');
  });
});

test('turns are judged by the longest of each step in processor time, collections included', () => {
  const steps = [
    { name: 'first sync', ...turns(50, 42) },
    { name: 'first list', ...turns(50.1, 40) },
  ];
  const text = printTurns([{ nodes: 15_000, pods: 450_000, steps }]);
  expect(rowOf(text, 'first sync')).toBe('50.0 | 9.00 | 42.0 | 60.0 | old 11.0 | ≤ 50 | met');
  expect(rowOf(text, 'first list')).toBe('50.1 | 9.00 | 40.0 | 60.0 | old 11.0 | ≤ 50 | MISSED');
});

describe('targets of lists', () => {
  test.each([
    ['bare node:http', 'identity', 1000, 0.8],
    ['bare node:http', 'gzip', 1000, 0.8],
    ['bare node:http', 'identity', 100, 0.8],
    ['bare node:http', 'gzip', 100, 0.5],
    ['bare node:http', 'identity', 10, 0.5],
    ['kube-apiserver', 'identity', 100, 10],
    ['kube-apiserver', 'gzip', 1000, 200],
    ['nginx', 'gzip', 1000, undefined],
  ] as const)('asks of Gatehouse against %s, %s, %i nodes: %s', (reference, coding, nodes, least) => {
    expect(leastRatio(reference, coding, nodes)).toBe(least);
  });
});

const report = (
  requestsPerSecond: number,
  generatorShare = 0.5,
  bytesPerAnswer = 12e6,
  serverShare = 1,
): LoadReport => ({
  requests: requestsPerSecond * 3,
  requestsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  bytesPerAnswer,
  generatorShare,
  serverShare,
});

const results = (own: number[], generatorShare?: number, bareBytes?: number, bareShare?: number): ListResults => ({
  ceiling: report(40_000, 0.7),
  startUps: [{ nodes: 10, startToReadyMs: [900, 700, 800] }],
  measured: [
    {
      cluster: 'the simulated API server',
      nodes: 1000,
      cells: [
        { peer: 'Gatehouse', coding: 'identity', rounds: own.map((rate) => report(rate, generatorShare)) },
        {
          peer: 'bare node:http',
          coding: 'identity',
          rounds: [100, 100, 200].map((rate) => report(rate, undefined, bareBytes, bareShare)),
        },
      ],
      memory: { afterSync: 90e6, syncPeak: 95e6, afterLoad: 120e6, peak: undefined },
      visible: { latenciesMs: [1, 2, 30], polls: 9, changesPerSecond: 99 },
    },
  ],
  withoutReal: '--no-cluster',
});

const linesWith = (text: string, part: string): string[] => text.split('\n').filter((line) => line.includes(part));

describe('lists', () => {
  test('say the median of the ratios, each round, and whether the target is met', () => {
    expect(linesWith(printLists(results([90, 85, 120])), 'Gatehouse / bare')).toEqual([
      'Gatehouse / bare node:http, identity    0.85  0.90 0.85 0.60         0.90   ≥ 0.8  met',
    ]);
    expect(linesWith(printLists(results([70, 85, 120])), 'Gatehouse / bare')).toEqual([
      'Gatehouse / bare node:http, identity    0.70  0.70 0.85 0.60         0.85   ≥ 0.8  MISSED',
    ]);
  });

  test('say how the generator is known not to be the limit', () => {
    expect(linesWith(printLists(results([90, 85, 120])), 'of a core')).toEqual([
      'On an answer of 2 bytes the generator reaches 40,000 requests/s with 70 % of a core.',
      'In the lists above it used at most 50 % of a core, below 85 %: it was not the limit.',
    ]);
  });

  test('say when the generator may be the limit', () => {
    expect(linesWith(printLists(results([90, 85, 120], 0.97)), 'up to')).toEqual([
      "In the lists above it used up to 97 % of a core: those figures may be the generator's.",
    ]);
  });

  test('say when the machine was too busy for a verdict by requests per second', () => {
    expect(linesWith(printLists(results([90, 85, 120], 0.5, 12e6, 0.4)), 'busy')).toEqual([
      'The servers of one thread got as little as 40 % of a core: the machine was busy with something else. Trust the ratios by CPU time.',
    ]);
    expect(linesWith(printLists(results([90, 85, 120])), 'busy')).toEqual([]);
  });

  test('say when the bare server sent other bytes', () => {
    const sentence = 'The bare server did not send the bytes of Gatehouse: its ratios are void.';
    expect(linesWith(printLists(results([90, 85, 120], 0.5, 11e6)), 'void')).toEqual([sentence]);
    expect(linesWith(printLists(results([90, 85, 120])), 'void')).toEqual([]);
  });
});
