import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { divideUp, formatQuantity, parseQuantity, type QuantityFormat } from '../../../../src/nodes/usage/quantity.ts';
import { check } from '../../../support/property.ts';

const GREATEST = (2n ** 63n - 1n) * 10n ** 9n;

const canonical = (text: string) => {
  const quantity = parseQuantity(text);
  return quantity && formatQuantity(quantity.nano, quantity.format);
};

describe('quantity', () => {
  test.each([
    ['0', '0'],
    ['0Ki', '0'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['0.1', '100m'],
    ['.5', '500m'],
    ['12.', '12'],
    ['+1', '1'],
    ['-1500m', '-1500m'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1023', '1023'],
    ['1E', '1E'],
    ['1000E', '9223372036854775807'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['1e-3', '1e-3'],
    ['12e2', '1200'],
    ['1e+6', '1e6'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1Ki', '1Ki'],
    ['1.0001Ki', '1024102400u'],
    ['128974848000m', '128974848'],
    ['100n', '100n'],
    ['1234567891.5n', '1234567892n'],
    ['0.1n', '1n'],
    ['1e-10', '1e-9'],
    ['1e-999999999', '1e-9'],
    ['0e999999999', '0'],
    ['00001', '1'],
  ])('%s reads and writes as %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '.',
    'Ki',
    '1ki',
    '1K',
    '1 ',
    ' 1',
    '1.1.M',
    '1+1.0M',
    '0.1mi',
    'aoeu',
    '1i',
    '-3.01i',
    '-3.01e-',
    '1e',
    '--1',
    '0x1',
    '9'.repeat(129),
  ])('%j is no quantity', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  test.each([[undefined], [null], [{}], [[]], [true], [Number.NaN]])('%j is no quantity', (value) => {
    expect(parseQuantity(value)).toBeUndefined();
  });

  test('a JSON number is taken as its text', () => {
    expect(parseQuantity(2)).toEqual({ nano: 2_000_000_000n, format: 'DecimalSI' });
  });

  test('more than 2^63 - 1 is cut to it', () => {
    for (const text of ['9223372036854775808', '100E', '8Ei', '1e999999999', '9'.repeat(128)]) {
      expect(parseQuantity(text)?.nano).toBe(GREATEST);
    }
  });

  test.each([
    [1_000n, '1k'],
    [-1_000n, '-1k'],
    [1_023n, '1023'],
    [1_024n, '1Ki'],
    [-1_024n, '-1Ki'],
    [1_025n, '1025'],
    [2_000n, '2000'],
    [-2_000n, '-2000'],
  ])('%i in binary is written in decimal suffixes where it is less than 1Ki: %s', (units, text) => {
    expect(formatQuantity(units * 10n ** 9n, 'BinarySI')).toBe(text);
  });

  test('what is written reads back as the same amount', () => {
    const formats = fc.constantFrom<QuantityFormat>('BinarySI', 'DecimalSI', 'DecimalExponent');
    check(
      fc.property(fc.bigInt(0n, GREATEST), fc.integer({ min: 0, max: 27 }), formats, (digits, zeros, format) => {
        const nano = (digits / 10n ** BigInt(zeros)) * 10n ** BigInt(zeros);
        expect(parseQuantity(formatQuantity(nano, format))?.nano).toBe(nano);
      }),
    );
  });

  test('binary amounts read back with their format from 1Ki', () => {
    check(
      fc.property(fc.bigInt(1n, 2n ** 22n), fc.integer({ min: 1, max: 4 }), (count, power) => {
        const nano = count * 1024n ** BigInt(power) * 10n ** 9n;
        expect(parseQuantity(formatQuantity(nano, 'BinarySI'))).toEqual({ nano, format: 'BinarySI' });
      }),
    );
  });
});

test('a sum above the largest suffix keeps it', () => {
  const units = (power: bigint): bigint => 10n ** 9n * power;
  expect(formatQuantity(units(10n ** 21n), 'DecimalSI')).toBe('1000E');
  expect(formatQuantity(units(1024n ** 7n), 'BinarySI')).toBe('1024Ei');
});

test('a quotient is rounded up, and a negative one is cut toward zero', () => {
  expect([15n, 10n, 0n, -10n, -15n].map((dividend) => divideUp(dividend, 10n))).toEqual([2n, 1n, 0n, -1n, -1n]);
});

test('what is finer than a billionth is rounded up by all its digits', () => {
  expect(parseQuantity('0.12345678949')?.nano).toBe(123_456_790n);
  expect(parseQuantity('1e-12')?.nano).toBe(1n);
});
