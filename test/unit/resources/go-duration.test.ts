import { describe, expect, test } from 'vitest';
import { parseGoDuration } from '../../../src/resources/query/go-duration.ts';

// Beside Go's own code, with many more texts: test/vectors/go-durations.test.ts.
describe('a duration of Go', () => {
  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['10s', 10_000_000_000n],
    ['5m0s', 300_000_000_000n],
    ['1h30m', 5_400_000_000_000n],
    ['1.5s', 1_500_000_000n],
    ['.5ms', 500_000n],
    ['1.us', 1_000n],
    ['2\u00b5s', 2_000n],
    ['2\u03bcs', 2_000n],
    ['-1.5h', -5_400_000_000_000n],
    ['+7ns', 7n],
    ['0000000000000000000000001s', 1_000_000_000n],
    ['9223372036854775807ns', 9_223_372_036_854_775_807n],
    ['-9223372036854775808ns', -9_223_372_036_854_775_808n],
  ])('%s is %s ns', (text, expected) => {
    expect(parseGoDuration(text)).toBe(expected);
  });

  test.each(['', '+', '10', 's', '.s', '1,5s', '1d', '10 s', ' 10s', '1e3s', '--1s', '9223372036854775808ns', 'true'])(
    '"%s" is none',
    (text) => {
      expect(parseGoDuration(text)).toBe(undefined);
    },
  );
});
