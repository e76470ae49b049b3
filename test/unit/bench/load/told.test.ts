import { describe, expect, test } from 'vitest';
import { seriesOf, toldBetween } from '../../../../bench/load/told.ts';

const page = (counts: readonly number[], sum: number): string =>
  [
    ...['0.1', '0.25', '+Inf'].map((le, at) => `gatehouse_watch_fanout_seconds_bucket{le="${le}"} ${counts[at]}`),
    `gatehouse_watch_fanout_seconds_sum ${sum}`,
    `gatehouse_watch_fanout_seconds_count ${counts[2]}`,
  ].join('\n');

describe('what a server’s metrics say of telling its watchers', () => {
  test('is the mean and the bound of the slowest between two pages', () => {
    expect(toldBetween(page([1, 3, 4], 9), page([2, 6, 7], 9.6))).toEqual({
      told: { meanMs: expect.closeTo(200), slowestMs: 250 },
    });
  });

  test('has no bound above the last bucket', () => {
    expect(toldBetween(page([0, 0, 0], 0), page([0, 0, 1], 3))).toEqual({
      told: { meanMs: 3_000, slowestMs: Number.POSITIVE_INFINITY },
    });
  });

  test('is nothing where no change was told, or nothing is known of them', () => {
    expect(toldBetween(page([1, 1, 1], 1), page([1, 1, 1], 1))).toEqual({});
    expect(toldBetween('', '')).toEqual({});
    expect(seriesOf('a 1', 'b')).toBeNaN();
  });
});
