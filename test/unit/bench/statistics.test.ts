import { describe, expect, test } from 'vitest';
import { median, quantile, ratios } from '../../../bench/statistics.ts';

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
});
