import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Backoff } from '../../src/runtime/backoff.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { check } from '../support/property.ts';

const jitter = (fraction: number) => ({ bytes: (length: number) => Buffer.alloc(length), fraction: () => fraction });
const waits = (backoff: Backoff, count: number): number[] => Array.from({ length: count }, () => backoff.failed());

describe('back-off', () => {
  test('begins at 0.8 s, doubles, and never waits longer than 30 s', () => {
    const backoff = new Backoff(new FakeClock(), jitter(0));
    expect(waits(backoff, 8)).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  test('waits no longer than it is told', () => {
    const backoff = new Backoff(new FakeClock(), jitter(0.5), 5_000);
    expect(waits(backoff, 5)).toEqual([1_200, 2_400, 4_800, 5_000, 5_000]);
  });

  test('keeps each wait between d and 2d', () => {
    check(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (fraction) => {
        const backoff = new Backoff(new FakeClock(), jitter(fraction));
        for (const base of [800, 1_600, 3_200, 6_400, 12_800]) {
          const wait = backoff.failed();
          expect(wait).toBeGreaterThanOrEqual(base);
          expect(wait).toBeLessThanOrEqual(Math.min(30_000, base * 2));
        }
      }),
    );
  });

  test('begins again after 2 min of health', async () => {
    const clock = new FakeClock();
    const backoff = new Backoff(clock, jitter(0));
    waits(backoff, 4);
    backoff.succeeded();
    await clock.advance(60_000);
    backoff.succeeded(); // only the first sign of health counts
    await clock.advance(60_000);
    expect(backoff.failed()).toBe(800);
  });

  test('does not begin again after less health, or after waiting alone', async () => {
    const clock = new FakeClock();
    const backoff = new Backoff(clock, jitter(0));
    waits(backoff, 2);
    backoff.succeeded();
    await clock.advance(119_999);
    expect(backoff.failed()).toBe(3_200);
    await clock.advance(600_000);
    expect(backoff.failed()).toBe(6_400);
  });
});
