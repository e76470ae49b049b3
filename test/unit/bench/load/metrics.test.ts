import { describe, expect, test } from 'vitest';
import { loopDelayOf, residentMetric, seriesOf, toldBetween } from '../../../../bench/load/metrics.ts';

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

const lag = (seconds: string): string => `# TYPE x gauge\nnodejs_eventloop_lag_p99_seconds ${seconds}\nother 1\n`;

test('takes the resolution of the measurement off the loop delay', () => {
  expect(loopDelayOf(lag('0.0355'))).toBeCloseTo(25.5, 9);
});

test('has no loop delay below zero, and none where the page does not say', () => {
  expect(loopDelayOf(lag('0.0099'))).toBe(0);
  expect(loopDelayOf('other 1\n')).toBeNaN();
});

test.each(['process_resident_memory_bytes 5e7', 'gatehouse_process_resident_memory_bytes{app="a"} 50000000'])(
  'reads the metric %j',
  (line) => {
    expect(residentMetric(`# TYPE x gauge\n${line}\nother 1\n`)).toBe(50_000_000);
  },
);

test('does not make up a metric', () => {
  expect(residentMetric('other 1\n')).toBeUndefined();
});
