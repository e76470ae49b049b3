import { describe, expect, test } from 'vitest';
import { histogram, median, quantile, ratios, slope, welchT } from '../../../bench/statistics.ts';

describe('bench statistics', () => {
  test('answers a quantile that was measured, by nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect([quantile(values, 0), quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)]).toEqual([
      1, 100, 198, 200,
    ]);
  });

  test('takes the middle of three and the lower middle of four', () => {
    expect([median([30, 10, 20]), median([4, 1, 3, 2])]).toEqual([20, 2]);
  });

  test('has no median of nothing', () => {
    expect(median([])).toBeNaN();
  });

  test('divides round by round', () => {
    expect(ratios([8, 9], [10, 9])).toEqual([0.8, 1]);
  });

  test('R-03 tells by Welch’s t how far two means are apart', () => {
    // Means 2 and 6; variances (1 + 0 + 1) / 2 = 1 and (16 + 4 + 4 + 16) / 3 = 40 / 3; 1 / 3 + 40 / 3 / 4 = 11 / 3.
    expect(welchT([1, 2, 3], [2, 4, 8, 10])).toBeCloseTo(-4 / Math.sqrt(11 / 3), 12);
    expect(welchT([2, 4, 8, 10], [1, 2, 3])).toBeCloseTo(2.08893187146837, 12);
    expect(welchT([1, 2, 3], [3, 1, 2])).toBe(0);
  });

  test('R-19 finds the slope of a line whatever the noise around it that cancels out', () => {
    const noise = [5, -5, -5, 5];
    expect(slope([1, 2, 3, 4].map((at) => ({ at, value: 7 + 3 * at })))).toBeCloseTo(3, 12);
    expect(slope([1, 2, 3, 4].map((at, index) => ({ at, value: 3 * at + (noise[index] ?? 0) })))).toBeCloseTo(3, 12);
    expect(slope([{ at: 1, value: 1 }])).toBeNaN();
  });

  test('counts values up to and including each limit, and the rest', () => {
    expect(histogram([0.5, 1, 1.1, 2, 9, 9], [1, 2, 5])).toEqual([2, 2, 0, 2]);
  });
});
