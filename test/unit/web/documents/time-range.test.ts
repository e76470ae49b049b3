import { describe, expect, it } from 'vitest';
import {
  addressTime,
  addressTimeOfField,
  barsOf,
  fieldTime,
  intervalFor,
  rangeOf,
  spanOf,
} from '../../../../web/documents/time-range.ts';

const NOW = Date.parse('2026-03-09T10:00:00.900Z');
const NOW_SECONDS = Date.parse('2026-03-09T10:00:00Z') / 1_000;

describe('the time in the address', () => {
  it.each([
    [{}, 3_600, 0],
    [{ range: '15m' }, 900, 0],
    [{ range: '7d' }, 604_800, 0],
    [{ range: 'toString' }, 3_600, 0],
    [{ since: '2026-03-09T09:00:00Z', until: '2026-03-09T09:30:00Z' }, 3_600, 1_800],
    [{ since: '2026-03-09T10:00:00+02:00' }, 7_200, 0],
    [{ until: '2026-03-09T09:00:00Z' }, 7_200, 3_600],
    [{ since: 'nonsense', until: 'nonsense' }, 3_600, 0],
    [{ range: '7d', since: '2026-03-09T09:59:00Z' }, 60, 0],
  ])('%j begins %i s ago and ends %i s ago', (time, from, to) => {
    expect(spanOf(time, NOW)).toEqual({ start: NOW_SECONDS - from, end: NOW_SECONDS - to });
  });

  it('names a range unless it has times of its own', () => {
    expect([{}, { range: '6h' }, { range: 'x' }, { range: '6h', until: 'x' }].map(rangeOf)).toEqual([
      ...['1h', '6h', '1h', undefined],
    ]);
  });

  it('is the same instant in every zone, and is typed in the zone of the reader', () => {
    expect(addressTime(NOW_SECONDS)).toBe('2026-03-09T10:00:00Z');
    expect(addressTimeOfField(fieldTime(NOW_SECONDS))).toBe('2026-03-09T10:00:00Z');
    expect(fieldTime(new Date(2026, 0, 2, 3, 4, 5).getTime() / 1_000)).toBe('2026-01-02T03:04:05');
    expect(addressTimeOfField('')).toBe('');
  });
});

describe('the bars of a histogram', () => {
  it.each([
    [900, '15s'],
    [3_600, '1m'],
    [21_600, '10m'],
    [86_400, '30m'],
    [604_800, '3h'],
    [0, '1s'],
    [30 * 86_400, '12h'],
    [365 * 86_400, '6d'],
  ])('of %i s are as wide as %s', (seconds, text) => {
    const span = { start: NOW_SECONDS - seconds, end: NOW_SECONDS };
    const interval = intervalFor(span);
    expect(interval.text).toBe(text);
    expect(barsOf([], span, interval).length).toBeLessThanOrEqual(72);
  });

  it('cover the time without gaps, with the records of their buckets, and nothing outside', () => {
    const buckets = [60, 180, 0, 600].map((seconds, place) => ({ time: seconds * 1_000, count: place + 1 }));
    expect(barsOf(buckets, { start: 70, end: 250 }, { text: '1m', seconds: 60 })).toEqual([
      { span: { start: 70, end: 119 }, count: 1 },
      { span: { start: 120, end: 179 }, count: 0 },
      { span: { start: 180, end: 239 }, count: 2 },
      { span: { start: 240, end: 250 }, count: 0 },
    ]);
  });
});
