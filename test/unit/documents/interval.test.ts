import { describe, expect, test } from 'vitest';
import {
  bucketsIn,
  hasFixedLength,
  type Interval,
  intervalText,
  MOST_BUCKETS,
  parseInterval,
  withEmptyBuckets,
} from '../../../src/documents/query/interval.ts';

const read = (text: string): Interval => {
  const interval = parseInterval(text, 'interval');
  if ('reason' in interval) throw new Error(interval.message);
  return interval;
};

const at = (time: string): number => Date.parse(`${time}Z`);
const seconds = (time: string): number => at(time) / 1_000;

describe('an interval', () => {
  test.each(['1s', '30s', '15m', '6h', '1d', '7d', '1w', '1M', '1q', '1y', '999999999d'])('L-13 may be %s', (text) => {
    expect(intervalText(read(text))).toBe(text);
  });

  test.each([
    '2w',
    '2M',
    '2q',
    '2y',
    '0m',
    '15',
    '1ms',
    'm',
    '',
    '1.5h',
    '-1m',
    '+1m',
    '01m',
    '1 m',
    '1m ',
    '1D',
    'day',
    '1000000000s',
    '1m\n',
  ])('L-13 cannot be "%s"', (text) => {
    expect(parseInterval(text, 'interval')).toMatchObject({ reason: 'FieldValueInvalid', field: 'interval' });
  });

  test.each([
    ['1s', true],
    ['24h', true],
    ['1d', false],
    ['2d', true],
    ['1w', false],
    ['1M', false],
    ['1y', false],
  ])('%s has a length of its own: %s', (text, wanted) => {
    expect(hasFixedLength(read(text))).toBe(wanted);
  });
});

describe('the number of buckets of a closed range', () => {
  test.each([
    ['1m', '2026-03-09T10:00:00', '2026-03-09T10:00:59', 1],
    ['1m', '2026-03-09T10:00:59', '2026-03-09T10:01:00', 2],
    ['15m', '2026-03-09T10:00:00', '2026-03-09T11:00:00', 5],
    ['1d', '2026-03-09T23:59:59', '2026-03-10T00:00:00', 2],
    ['1w', '2026-03-08T23:59:59', '2026-03-09T00:00:00', 2], // Sunday and Monday
    ['1w', '2026-03-09T00:00:00', '2026-03-15T23:59:59', 1],
    ['1M', '2024-02-29T00:00:00', '2024-03-01T00:00:00', 2],
    ['1q', '2025-12-31T00:00:00', '2026-04-01T00:00:00', 3],
    ['1y', '1969-12-31T23:59:59', '1970-01-01T00:00:00', 2],
    ['1s', '1969-12-31T23:59:59', '1970-01-01T00:00:00', 2],
    ['7d', '1970-01-07T00:00:00', '1970-01-08T00:00:00', 2], // since 1970, not the calendar
  ])('of %s from %s to %s is %i', (interval, start, end, count) => {
    expect(bucketsIn({ start: seconds(start), end: seconds(end) }, read(interval))).toBe(count);
  });
});

describe('buckets', () => {
  const times = (interval: string, ...filled: string[]) =>
    withEmptyBuckets(
      filled.map((time) => ({ time: at(time), count: 1 })),
      read(interval),
    )?.map(({ time, count }) => `${new Date(time).toISOString().slice(0, 16)} ${count}`);

  test('of nothing are none', () => {
    expect(withEmptyBuckets([], read('1m'))).toEqual([]);
  });

  test('of several searches are added up, in the order of time', () => {
    const filled = [
      { time: 60_000, count: 1 },
      { time: 0, count: 2 },
      { time: 60_000, count: 3 },
    ];
    expect(withEmptyBuckets(filled, read('1m'))).toEqual([
      { time: 0, count: 2 },
      { time: 60_000, count: 4 },
    ]);
  });

  test.each([
    [
      '1m',
      ['2026-03-09T23:59', '2026-03-10T00:01'],
      ['2026-03-09T23:59 1', '2026-03-10T00:00 0', '2026-03-10T00:01 1'],
    ],
    [
      '1w',
      ['2025-12-22T00:00', '2026-01-05T00:00'],
      ['2025-12-22T00:00 1', '2025-12-29T00:00 0', '2026-01-05T00:00 1'],
    ],
    [
      '1M',
      ['2024-01-01T00:00', '2024-03-01T00:00'],
      ['2024-01-01T00:00 1', '2024-02-01T00:00 0', '2024-03-01T00:00 1'],
    ],
    [
      '1q',
      ['2025-10-01T00:00', '2026-04-01T00:00'],
      ['2025-10-01T00:00 1', '2026-01-01T00:00 0', '2026-04-01T00:00 1'],
    ],
    [
      '1y',
      ['1969-01-01T00:00', '1971-01-01T00:00'],
      ['1969-01-01T00:00 1', '1970-01-01T00:00 0', '1971-01-01T00:00 1'],
    ],
  ])('of %s have the empty ones between them', (interval, filled, wanted) => {
    expect(times(interval, ...filled)).toEqual(wanted);
  });

  test('are 10,000 at most, empty ones included', () => {
    const upTo = (count: number) =>
      withEmptyBuckets(
        [
          { time: 0, count: 1 },
          { time: (count - 1) * 1_000, count: 1 },
        ],
        read('1s'),
      );
    expect(upTo(MOST_BUCKETS)).toHaveLength(MOST_BUCKETS);
    expect(upTo(MOST_BUCKETS + 1)).toBeUndefined();
  });

  test('that lie a century apart are refused without being made', () => {
    expect(times('1s', '1970-01-01T00:00', '2070-01-01T00:00')).toBeUndefined();
  });
});
