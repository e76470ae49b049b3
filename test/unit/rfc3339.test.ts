import { expect, test } from 'vitest';
import { toRfc3339 } from '../../src/runtime/text/rfc3339.ts';

test.each([
  [0, '1970-01-01T00:00:00Z'],
  [1_773_050_399_999, '2026-03-09T09:59:59Z'],
  [-1, '1969-12-31T23:59:59Z'],
  [253_402_300_800_000, '+010000-01-01T00:00:00Z'],
])('%i ms is %s, in whole seconds rounded down', (ms, text) => {
  expect(toRfc3339(ms)).toBe(text);
});
