import { describe, expect, test } from 'vitest';
import { ClusterError } from '../../../src/kubernetes/client/api-client.ts';

const errorOf = (status: number, headers = {}, body: unknown = undefined): ClusterError =>
  new ClusterError('a review', { status, headers, body, bytes: 0 });

describe('an error of the cluster', () => {
  test('says what was asked and how it was answered, in 500 characters', () => {
    const body = { code: 403, reason: 'Forbidden', message: 'no' };
    expect(String(errorOf(403, {}, body))).toBe('ClusterError: a review was answered 403 Forbidden: no');
    const { message } = errorOf(500, {}, { message: 'x'.repeat(1_000) });
    expect(message.length).toBe('a review was answered '.length + 500);
  });

  test.each([429, 503])('of %i knows how long the API server wants to be left alone', (status) => {
    expect(errorOf(status, { 'retry-after': '7' }).retryAfterMs).toBe(7_000);
    expect(errorOf(status, { 'retry-after': ['7'] }).retryAfterMs).toBe(7_000);
    expect(errorOf(status, {}, { details: { retryAfterSeconds: 3 } }).retryAfterMs).toBe(3_000);
    expect(errorOf(status).retryAfterMs).toBe(0);
  });

  test.each([409, 500, 504])('of %i does not ask to be left alone', (status) => {
    expect(errorOf(status, { 'retry-after': '7' }).retryAfterMs).toBe(0);
  });
});
