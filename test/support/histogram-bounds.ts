import type { Registry } from 'prom-client';
import { expect } from 'vitest';

/** A quantile is somewhere within its bucket: with a wider bucket it says too little. */
const WIDEST = 5;

/** The bounds of a histogram that has been observed, in its own order. */
export async function boundsOf(registry: Registry, name: string): Promise<number[]> {
  const lines = (await registry.getSingleMetricAsString(name)).split('\n');
  const bounds = lines.flatMap((line) => /_bucket\{.*le="([\d.]+)"/.exec(line)?.[1] ?? []);
  return [...new Set(bounds.map(Number))];
}

/**
 * The bounds ascend, without which a value counts in the wrong bucket, each to five times the one before at most. The first one
 * is `first` seconds at most, and the last one is `last`.
 */
export function expectFineBounds(bounds: readonly number[], { first, last }: { first: number; last: number }): void {
  for (const [at, bound] of bounds.entries()) {
    const before = bounds[at - 1] ?? first / WIDEST;
    expect(bound, `the bound after ${before}`).toBeGreaterThan(before);
    expect(bound, `the bound after ${before}`).toBeLessThanOrEqual(before * WIDEST);
  }
  expect(bounds.at(-1)).toBe(last);
}
