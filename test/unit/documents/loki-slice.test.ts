import { describe, expect, test } from 'vitest';
import { slicesOf } from '../../../src/documents/loki/loki-slice.ts';
import { spanOf } from '../../../src/documents/loki/loki-span.ts';
import { logConditions } from '../../support/logs/log-conditions.ts';

const NOW = Date.parse('2026-03-09T10:00:00Z');
const [HOUR, DAY] = [3_600_000, 86_400_000];
const SECONDS = NOW / 1_000;

describe('the span that a store is asked about', () => {
  test.each([
    ['an open end is an hour from now, an open start thirty days before that', {}, [NOW + HOUR - 30 * DAY, NOW + HOUR]],
    ['the last second is whole', { start: SECONDS - 10, end: SECONDS - 5 }, [NOW - 10_000, NOW - 4_000]],
    ['an end is an hour from now at the latest', { start: SECONDS, end: SECONDS + 7_200 }, [NOW, NOW + HOUR]],
    ['an open start is thirty days before the end', { end: SECONDS - 1 }, [NOW - 30 * DAY, NOW]],
    ['a start is a day after 1970 at the earliest', { start: 0, end: 200_000 }, [DAY, 200_001_000]],
    ['it may be over before it begins', { start: SECONDS + 9_000 }, [NOW + 9_000_000, NOW + HOUR]],
  ])('%s', (_, time, expected) => {
    expect(spanOf(time, NOW)).toEqual(expected);
  });

  test('is 92 days at most', () => {
    const from = (ms: number) => ({ start: (NOW - 92 * DAY - ms) / 1_000, end: SECONDS - 1 });
    expect(spanOf(from(0), NOW)).toEqual([NOW - 92 * DAY, NOW]);
    expect(() => spanOf(from(1_000), NOW)).toThrow('92 days at most');
  });
});

describe('the slices of a search', () => {
  const conditions = logConditions({ pods: ['p'] });
  const time = { start: SECONDS - 100, end: SECONDS - 1 };
  const [start, end] = [BigInt(NOW - 100_000) * 1_000_000n, BigInt(NOW) * 1_000_000n];
  const slices = (namespaces?: Parameters<typeof slicesOf>[0]['namespaces']) =>
    slicesOf({ conditions, time, namespaces } as Parameters<typeof slicesOf>[0], { flow: 'ada', now: NOW });

  test('are one of all where no namespace is named, and none where none may be read', () => {
    expect(slices()).toEqual([{ flow: 'ada', conditions, namespaces: undefined, start, end }]);
    expect(slices({ whole: [], young: [] })).toEqual([]);
  });

  test('have each young namespace by itself from when it was made, and the old ones together', () => {
    const young = [
      { name: 'new', since: NOW - 50_000 },
      { name: 'old', since: NOW - 100_000 },
      { name: 'later', since: NOW },
    ];
    expect(slices({ whole: ['shop'], young }).map(({ namespaces, ...one }) => [namespaces, one.start])).toEqual([
      [['shop', 'old'], start],
      [['new'], BigInt(NOW - 50_000) * 1_000_000n],
    ]);
  });

  test('name 500 namespaces each at most', () => {
    const whole = Array.from({ length: 1_001 }, (_, index) => `n${index}`);
    const named = slices({ whole, young: [] }).map(({ namespaces }) => namespaces);
    expect(named.map((names) => names?.length)).toEqual([500, 500, 1]);
    expect(named.flat()).toEqual(whole);
  });
});
