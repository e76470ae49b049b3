import { describe, expect, it } from 'vitest';
import { compareTimes, type LogRecord, newAmong, newestFirst } from '../../../../web/logs/log-records.ts';

const record = (time: string, log: string): LogRecord => ({ time, log, namespace: 'shop', pod: 'cart-0' });

describe('times of records', () => {
  it.each([
    ['2026-03-09T10:00:00Z', '2026-03-09T10:00:01Z'],
    ['2026-03-09T10:00:00.123456788Z', '2026-03-09T10:00:00.123456789Z'],
    ['2026-03-09T10:00:00Z', '2026-03-09T10:00:00.000000001Z'],
    ['2026-03-09T10:00:00.9Z', '2026-03-09T11:00:01+01:00'],
    ['2026-03-09T10:00:00.1Z', '2026-03-09T10:00:00.19Z'],
  ])('%s is before %s', (early, late) => {
    expect([compareTimes(early, late), compareTimes(late, early)].map(Math.sign)).toEqual([-1, 1]);
  });

  it.each([
    ['2026-03-09T10:00:00.1Z', '2026-03-09T10:00:00.100Z'],
    ['2026-03-09T10:00:00Z', '2026-03-09T12:00:00+02:00'],
  ])('%s is %s', (a, b) => {
    expect(compareTimes(a, b)).toBe(0);
  });

  it('put the newest first, and leave those of one time as they are', () => {
    const [a, b, c] = [
      record('2026-03-09T10:00:00Z', 'a'),
      record('2026-03-09T10:00:01Z', 'b'),
      record('2026-03-09T10:00:00Z', 'c'),
    ];
    expect(newestFirst([a, b, c])).toEqual([b, a, c]);
  });
});

describe('newer records', () => {
  it('are those that are not known, as often as they are not', () => {
    const [a, b] = [record('2026-03-09T10:00:00Z', 'a'), record('2026-03-09T10:00:00Z', 'b')];
    expect(newAmong([a], [b, { ...a }])).toEqual([b]);
    expect(newAmong([a], [{ ...a }, { ...a }, b])).toEqual([a, b]);
    expect(newAmong([], [a, { ...a }])).toHaveLength(2);
    expect(newAmong([a, b], [])).toEqual([]);
  });

  it('of another container are new', () => {
    const a = record('2026-03-09T10:00:00Z', 'a');
    expect(newAmong([a], [{ ...a, container: 'sidecar' }])).toHaveLength(1);
  });
});
