import { expect, test } from 'vitest';
import { durationText } from '../../src/data-age.ts';

// In the form of Go's `time.Duration.String`: leading units that are zero are left out, seconds always stand.
test.each([
  [0, '0s'],
  [250, '250ms'],
  [1_000, '1s'],
  [1_500, '1.5s'],
  [60_000, '1m0s'],
  [120_500, '2m0.5s'],
  [720_000, '12m0s'],
  [3_600_000, '1h0m0s'],
  [5_400_001, '1h30m0.001s'],
  [86_400_000, '24h0m0s'],
  [90_061_000, '25h1m1s'],
])('%i ms is written as Go does: %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
