import { expect, test } from 'vitest';
import { endOf, isSound, WATCH_ENDS } from '../../../../src/http/watch/watch-end.ts';
import { serviceUnavailable, tooManyRequests } from '../../../../src/status-error.ts';

test.each([
  ['the cluster', serviceUnavailable('m', 5), 'unavailable'],
  ['our own want of seats', tooManyRequests('m'), 'overloaded'],
  ['a bug', new Error('m'), 'failed'],
])('a watch that %s ends says so', (_, error, end) => {
  expect(endOf(error)).toBe(end);
});

test('a watch that lagged behind, or that a fault of ours ended, may not tell the version that it came to', () => {
  expect(WATCH_ENDS.filter((end) => !isSound(end))).toEqual(['expired', 'failed']);
});
