import { describe, expect, test } from 'vitest';
import { megabytes, number, percent, table } from '../../../bench/table.ts';

describe('bench tables', () => {
  test.each([
    [0.0456, '0.05'],
    [1.234, '1.23'],
    [12.34, '12.3'],
    [123.4, '123'],
    [45_057.03, '45,057'],
    [undefined, '–'],
    [Number.NaN, '–'],
  ])('writes %s as %s', (value, text) => {
    expect(number(value)).toBe(text);
  });

  test('writes shares and sizes with their unit', () => {
    expect([percent(0.854), percent(Number.NaN), megabytes(11_982_000), megabytes(undefined)]).toEqual([
      '85 %',
      '–',
      '12.0 MB',
      '–',
    ]);
  });

  test('aligns the first column to the left and figures to the right', () => {
    const text = table(
      'Speed',
      ['server', 'requests/s'],
      [
        ['bare', '1,000'],
        ['Gatehouse', '9'],
      ],
    );
    expect(text).toBe(
      [
        'Speed',
        '',
        'server     requests/s',
        '---------  ----------',
        'bare            1,000',
        'Gatehouse           9',
        '',
      ].join('\n'),
    );
  });
});
