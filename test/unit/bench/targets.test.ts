import { describe, expect, test } from 'vitest';
import { leastRatio } from '../../../bench/targets.ts';

describe('bench targets', () => {
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
