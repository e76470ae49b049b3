import { describe, expect, test } from 'vitest';
import { DataTooOld } from '../../../src/data-age.ts';
import { invalidRequest, toOAuthError } from '../../../src/oauth/endpoints/refusals.ts';
import { badRequest, serviceUnavailable } from '../../../src/status-error.ts';

const AGAIN = 'the server cannot answer now; try again';

describe('what went wrong under /oauth', () => {
  test.each<[string, Error, number, string, string | undefined]>([
    ['data that is missing', serviceUnavailable('internal detail', 5), 503, AGAIN, '1'],
    ['data that is too old', new DataTooOld('users are not available'), 503, 'users are not available', '30'],
    ['a refusal that is none of OAuth', badRequest('internal detail'), 500, 'the server failed', undefined],
    ['a bug', new TypeError('internal detail'), 500, 'the server failed', undefined],
  ])('is answered, for %s, in words of its own, with the cause for the log', (...row) => {
    const [, error, status, description, retryAfter] = row;
    const answer = toOAuthError(error);
    const headers = retryAfter === undefined ? {} : { headers: { 'Retry-After': retryAfter } };
    expect(answer.refusal).toEqual({ status, code: 'server_error', description, ...headers });
    expect(answer.cause).toBe(error);
  });

  test('is answered as it is where it is a refusal of OAuth', () => {
    const refusal = invalidRequest('the parameter x is missing');
    expect(toOAuthError(refusal)).toBe(refusal);
  });
});
