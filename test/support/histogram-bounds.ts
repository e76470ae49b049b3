import type { Registry } from 'prom-client';
import { expect } from 'vitest';

/** The largest ratio of two neighbouring bounds. A quantile is only known to be within its bucket, so a wider one says too little. */
const WIDEST = 5;

/** The bounds of a histogram that has a value, in their order on the page of metrics. */
export async function boundsOf(registry: Registry, name: string): Promise<number[]> {
  const lines = (await registry.getSingleMetricAsString(name)).split('\n');
  const bounds = lines.flatMap((line) => /_bucket\{.*le="([\d.]+)"/.exec(line)?.[1] ?? []);
  return [...new Set(bounds.map(Number))];
}

/**
 * Expects that the bounds ascend, because otherwise a value counts in the wrong bucket. Each is at most five times the one before. The
 * first one is at most `first` seconds, and the last one is `last`.
 */
export function expectFineBounds(bounds: readonly number[], { first, last }: { first: number; last: number }): void {
  for (const [at, bound] of bounds.entries()) {
    const before = bounds[at - 1] ?? first / WIDEST;
    expect(bound, `the bound after ${before}`).toBeGreaterThan(before);
    expect(bound, `the bound after ${before}`).toBeLessThanOrEqual(before * WIDEST);
  }
  expect(bounds.at(-1)).toBe(last);
}
