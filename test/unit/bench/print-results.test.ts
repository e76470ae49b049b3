import { describe, expect, test } from 'vitest';
import type { LoadReport } from '../../../bench/load/load.ts';
import { printResults } from '../../../bench/print-results.ts';
import type { Results } from '../../../bench/results.ts';

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

const results = (own: number[], generatorShare?: number, bareBytes?: number, bareShare?: number): Results => ({
  machine: { processors: 2, node: 'v26.10.0', loadAverage: 0.1 },
  lists: {
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
  },
});

const linesWith = (text: string, part: string): string[] => text.split('\n').filter((line) => line.includes(part));

describe('bench results', () => {
  test('say the median of the ratios, each round, and whether the target is met', () => {
    expect(linesWith(printResults(results([90, 85, 120])), 'Gatehouse / bare')).toEqual([
      'Gatehouse / bare node:http, identity    0.85  0.90 0.85 0.60         0.90   ≥ 0.8  met',
    ]);
    expect(linesWith(printResults(results([70, 85, 120])), 'Gatehouse / bare')).toEqual([
      'Gatehouse / bare node:http, identity    0.70  0.70 0.85 0.60         0.85   ≥ 0.8  MISSED',
    ]);
  });

  test('say how the generator is known not to be the limit', () => {
    expect(linesWith(printResults(results([90, 85, 120])), 'of a core')).toEqual([
      'On an answer of 2 bytes the generator reaches 40,000 requests/s with 70 % of a core.',
      'In the lists above it used at most 50 % of a core, below 85 %: it was not the limit.',
    ]);
  });

  test('say when the generator may be the limit', () => {
    expect(linesWith(printResults(results([90, 85, 120], 0.97)), 'up to')).toEqual([
      "In the lists above it used up to 97 % of a core: those figures may be the generator's.",
    ]);
  });

  test('say when the machine was too busy for a verdict by requests per second', () => {
    expect(linesWith(printResults(results([90, 85, 120], 0.5, 12e6, 0.4)), 'busy')).toEqual([
      'The servers of one thread got as little as 40 % of a core: the machine was busy with something else. Trust the ratios by CPU time.',
    ]);
    expect(linesWith(printResults(results([90, 85, 120])), 'busy')).toEqual([]);
  });

  test('say when the bare server sent other bytes', () => {
    const sentence = 'The bare server did not send the bytes of Gatehouse: its ratios are void.';
    expect(linesWith(printResults(results([90, 85, 120], 0.5, 11e6)), 'void')).toEqual([sentence]);
    expect(linesWith(printResults(results([90, 85, 120])), 'void')).toEqual([]);
  });

  test('say why there is no real kube-apiserver', () => {
    expect(printResults(results([90, 85, 120]))).toContain('\nNo real kube-apiserver: --no-cluster\n');
  });
});
