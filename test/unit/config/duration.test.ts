import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/config/fields.ts';

describe('parseDuration', () => {
  test.each([
    ['2h', 7_200_000],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
    ['250ms', 250],
    ['1m0.5s', 60_500],
    ['0', 0],
    ['0s', 0],
    ['100us', 0.1],
    ['720h', 2_592_000_000],
  ])('reads %s as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  test.each(['', '5', '7200', '-5s', '5 s', 's', '1d', '1h ', '5sec', '1e3s', '.5s', '٣s'])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});
