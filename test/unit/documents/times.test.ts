import { describe, expect, test } from 'vitest';
import { parseSeconds } from '../../../src/documents/query/times.ts';

describe('a time', () => {
  test.each([
    ['1700000000', 1_700_000_000],
    ['0', 0],
    ['-0', 0],
    ['-1', -1],
    ['+1700000000', 1_700_000_000],
    ['0001', 1],
    ['-62135596800', -62_135_596_800],
    ['253402300799', 253_402_300_799],
  ])('LT-01 "%s" is read', (text, seconds) => {
    expect(parseSeconds(text, 'start_time')).toBe(seconds);
  });

  const ABOVE = ' (milliseconds are not accepted)';
  test.each([
    ['LT-03', 'abc', ''],
    ['LT-03', '1700000000.5', ''],
    ['LT-03', '1.7e9', ''],
    ['LT-03', '0x10', ''],
    ['LT-03', ' 1', ''],
    ['LT-03', '1 ', ''],
    ['LT-03', '١', ''],
    ['LT-03', '--1', ''],
    ['LT-03', '-62135596801', ''],
    ['LT-03', '-9223372036854775809', ''],
    ['LT-03', '9223372036854775808', ABOVE],
    ['LT-03', '1'.repeat(64), ABOVE],
    ['LT-04', '1700000000000', ABOVE],
    ['LT-04', '+1700000000000', ABOVE],
    ['LT-04', '253402300800', ABOVE],
  ])('%s "%s" is none, with a hint where it is too large', (_, text, hint) => {
    expect(parseSeconds(text, 'end_time')).toEqual({
      reason: 'FieldValueInvalid',
      message: `invalid query parameter "end_time": "${text}" is not a time in whole seconds${hint}`,
      field: 'end_time',
    });
  });
});
