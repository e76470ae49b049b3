import { describe, expect, test } from 'vitest';
import { DataTooOld } from '../../../../src/data-age.ts';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import { invalidRequest, notAvailable, toOAuthError } from '../../../../src/oauth/endpoints/refusals.ts';
import { badRequest, serviceUnavailable } from '../../../../src/status-error.ts';

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
    expect(answer.refusal).toEqual({ ids: expect.any(Array), status, code: 'server_error', description, ...headers });
    expect(answer.cause).toBe(error);
  });

  test('AC-84 is answered with what refuses, and without a time, where the cluster refuses what the server needs', () => {
    const right = 'User "a\\b" cannot update resource "secrets" in API group "" in the namespace "gatehouse-system"';
    const body = { code: 403, message: `secrets "x" is forbidden: ${right}` };
    const refused = new ClusterError('the record', { status: 403, headers: {}, body } as never);
    const description = `the server cannot answer: a right is missing: ${right.replaceAll(/["\\]/g, "'")}`;
    for (const error of [notAvailable(refused), toOAuthError(serviceUnavailable('internal detail', 5, refused))])
      expect(error.refusal).toEqual({
        ids: expect.any(Array),
        status: 503,
        code: 'server_error',
        description,
      });
  });

  test('is answered as it is where it is a refusal of OAuth', () => {
    const refusal = invalidRequest('the parameter token is missing');
    expect(toOAuthError(refusal)).toBe(refusal);
  });
});
