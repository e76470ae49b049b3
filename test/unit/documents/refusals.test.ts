import { expect, test } from 'vitest';
import * as refusals from '../../../src/documents/refusals.ts';
import type { StatusError } from '../../../src/status-error.ts';
import { StoreError } from '../../../src/stores/store-error.ts';

const LIMIT = { ms: 30_000, name: 'logs' } as const;

test.each([
  ['slow', 504, 'Timeout', 'the logs could not be searched within 30 s', undefined],
  ['full', 429, 'TooManyRequests', 'Too many large log queries at once, please try again later.', 1],
  ['away', 503, 'ServiceUnavailable', 'the log store is not available, please try again', 5],
  ['refused', 502, 'BadGateway', 'the log store refuses the query: said by the store', undefined],
  ['unsupported', 502, 'BadGateway', 'said by the store', undefined],
] as const)('a store that fails by "%s" is %i', (kind, code, reason, message, retryAfterSeconds) => {
  const failure = new StoreError(kind, 'said by the store');
  const { answer, cause } = refusals.toAnswer(failure, LIMIT) as StatusError;
  expect(answer).toMatchObject({ code, reason, message });
  expect(answer.details?.retryAfterSeconds).toBe(retryAfterSeconds);
  expect(cause).toBe(failure);
});

test('anything else is passed on as it is', () => {
  const fault = new Error('a fault of ours');
  expect(refusals.toAnswer(fault, LIMIT)).toBe(fault);
});

test('what is wrong with a query is said of its parameter', () => {
  const told = [
    [refusals.intervalOfCalendar(), 'interval', 'no weeks, months'],
    [refusals.rangeTooLong(7), 'start_time', 'about 7 days at most'],
    [refusals.tooManyBucketsFound(), 'interval', ''],
  ] as const;
  for (const [{ answer }, field, words] of told) {
    expect(answer).toMatchObject({ code: 400, message: expect.stringContaining(words) });
    expect(answer.details?.causes).toMatchObject([{ field }]);
  }
  expect(refusals.notConfigured('logging').answer).toMatchObject({ code: 404, message: 'logging is not configured' });
});
