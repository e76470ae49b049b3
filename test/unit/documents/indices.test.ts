import { describe, expect, test } from 'vitest';
import { areOfDays, indicesOf } from '../../../src/documents/search/indices.ts';

const at = (time: string): number => Date.parse(time) / 1_000;
const DAY = 86_400;

describe('the indices of a search (docs/contract/logging.md, section 6)', () => {
  test.each([
    ['of a day are one', '2026-03-09T00:00:00Z', '2026-03-09T23:59:59Z', 'k-2026.03.09'],
    [
      'of three days are three',
      '2026-03-08T10:00:00Z',
      '2026-03-10T09:00:00Z',
      'k-2026.03.08,k-2026.03.09,k-2026.03.10',
    ],
    ['are days in UTC', '2026-03-09T23:30:00-05:00', '2026-03-09T23:31:00-05:00', 'k-2026.03.10'],
    ['are those of the leap day', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z', 'k-2024.02.29,k-2024.03.01'],
    ['are days before 1970, too', '1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z', 'k-1969.12.31,k-1970.01.01'],
    ['of 20 years are all', '2006-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'k*'],
  ])('%s', (_, start, end, wanted) => {
    expect(indicesOf('k', { start: at(start), end: at(end) })).toBe(wanted);
  });

  test.each([{}, { start: 0 }, { end: 0 }])('are all of the prefix where an end is open: %o', (time) => {
    expect(indicesOf('k', time)).toBe('k*');
  });

  test('are named for up to 30 days, in a request line of less than 1 kB', () => {
    const start = at('2026-03-01T12:00:00Z');
    expect(indicesOf('ks-logstash-log', { start, end: start + 30 * DAY }).split(',')).toHaveLength(31);
    expect(indicesOf('ks-logstash-log', { start, end: start + 30 * DAY }).length).toBeLessThan(1_000);
    expect(indicesOf('ks-logstash-log', { start, end: start + 30 * DAY + 1 })).toBe('ks-logstash-log*');
  });

  test('have four digits of a year from 1 to 9999', () => {
    expect(indicesOf('k', { start: -62_135_596_800, end: -62_135_596_800 })).toBe('k-0001.01.01');
    expect(indicesOf('k', { start: 253_402_300_799, end: 253_402_300_799 })).toBe('k-9999.12.31');
  });
});

describe('the indices of a store', () => {
  test.each([
    ['none', []],
    ['those of days', ['k-2026.03.08', 'k-2026.03.09']],
    ['those of days beside another system’s', ['k-2026.03.08', 'k-more-2026.03.09', 'kk-2026.03.09']],
  ])('L-14 are searched by days: %s', (_, names) => {
    expect(areOfDays('k', names)).toBe(true);
  });

  test.each([
    ['those of a rollover', ['k-000001', 'k-000002']],
    ['those of days that roll over', ['k-2026.03.09-000001']],
    ['one of a rollover among those of days', ['k-2026.03.08', 'k-000001']],
    ['those of a data stream', ['.ds-k-2026.03.09-000001']],
    ['those behind an alias', ['other-2026.03.09']],
    ['those of months', ['k-2026.03']],
    ['those of a longer prefix alone', ['k-more-2026.03.09']],
    ['those of a longer prefix that roll over', ['k-2026.03.08', 'k-more-000001']],
    ['the prefix itself', ['k']],
    ['no names', [null, 1]],
  ])('L-14 are searched all at once: %s', (_, names) => {
    expect(areOfDays('k', names)).toBe(false);
  });
});
