import { describe, expect, test } from 'vitest';
import { failureOf, toErrorAnswer } from '../../../../src/http/answer/error-body.ts';
import * as refusals from '../../../../src/http/answer/refusals.ts';
import { OAuthError } from '../../../../src/oauth/oauth-error.ts';
import {
  badRequest,
  notFound,
  StatusError,
  serviceUnavailable,
  tooManyRequests,
} from '../../../../src/status-error.ts';

const HEAD = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"';

describe('a Status', () => {
  test.each([
    [
      'HE-400',
      badRequest('m', [{ reason: 'FieldValueDuplicate', message: 'm', field: 'limit' }]),
      '"message":"m","reason":"BadRequest","details":{"causes":[{"reason":"FieldValueDuplicate","message":"m","field":"limit"}]},"code":400}',
    ],
    [
      'HE-401',
      refusals.unauthorized('no bearer token was sent', 'Bearer realm="gatehouse"'),
      '"message":"Unauthorized: no bearer token was sent","reason":"Unauthorized","code":401}',
    ],
    [
      'HE-404',
      notFound('nodes', 'zzz'),
      '"message":"nodes \\"zzz\\" not found","reason":"NotFound","details":{"name":"zzz","kind":"nodes"},"code":404}',
    ],
    [
      'HE-404',
      refusals.resourceNotFound(),
      '"message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}',
    ],
    [
      'HE-405',
      refusals.methodNotAllowed('GET'),
      '"message":"the server does not allow this method on the requested resource","reason":"MethodNotAllowed","details":{},"code":405}',
    ],
    [
      'HE-406',
      refusals.notAcceptable(),
      '"message":"only the following media types are accepted: application/json","reason":"NotAcceptable","code":406}',
    ],
    ['HE-408', refusals.tooSlow('m'), '"message":"m","reason":"Timeout","code":408}'],
    ['HE-410', refusals.gone('m'), '"message":"m","reason":"Gone","code":410}'],
    [
      'HE-413',
      refusals.bodyTooLarge(1_048_576),
      '"message":"Request entity too large: limit is 1048576","reason":"RequestEntityTooLarge","code":413}',
    ],
    [
      'HE-415',
      refusals.encodedBody(),
      '"message":"the body of the request must not have a Content-Encoding","reason":"UnsupportedMediaType","code":415}',
    ],
    [
      'HE-429',
      tooManyRequests(),
      '"message":"Too many requests, please try again later.","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}',
    ],
    [
      'HE-431',
      refusals.headerLinesExceeded(100),
      '"message":"the request is malformed: it has more than 100 header lines","reason":"RequestHeaderFieldsTooLarge","code":431}',
    ],
    [
      'HE-500',
      new TypeError('a secret path /etc/x'),
      '"message":"Internal error occurred: see the server log for request 5f0c2e9a7b314d88","reason":"InternalError","code":500}',
    ],
    [
      'HE-503',
      serviceUnavailable('nodes are not available: data is older than 12m0s', 30),
      '"message":"nodes are not available: data is older than 12m0s","reason":"ServiceUnavailable","details":{"retryAfterSeconds":30},"code":503}',
    ],
    [
      'HE-504',
      refusals.answerTimedOut(30_000),
      '"message":"the request could not be answered within 30 s","reason":"Timeout","code":504}',
    ],
  ])('%s has its members in the order of the contract', (id, error, rest) => {
    if (error instanceof StatusError) expect(error.id).toBe(id);
    const answer = toErrorAnswer(error, '5f0c2e9a7b314d88', false);
    expect(answer.body.toString()).toBe(`${HEAD},${rest}`);
    expect(answer.headers['Cache-Control']).toBe('no-store');
    expect(answer.headers['Content-Type']).toBe('application/json');
  });

  test('writes its details in one order, whatever theirs is', () => {
    const details = { retryAfterSeconds: 5, kind: 'k', group: 'g', name: 'n' };
    const error = new StatusError('ServiceUnavailable', { message: 'm', details });
    expect(toErrorAnswer(error, 'id', false).body.toString()).toContain(
      '"details":{"name":"n","group":"g","kind":"k","retryAfterSeconds":5}',
    );
  });

  test.each([408, 413, 431])('HE-%i closes the connection', (code) => {
    const errors = [refusals.tooSlow('m'), refusals.bodyTooLarge(1), refusals.headerLinesExceeded(1)];
    const error = errors.find((one) => one.answer.code === code);
    expect(toErrorAnswer(error, 'id', false).headers['Connection']).toBe('close');
  });

  test('N-51 repeats its seconds as Retry-After', () => {
    expect(toErrorAnswer(serviceUnavailable('m', 30), 'id', false).headers['Retry-After']).toBe('30');
  });
});

describe('an error under /oauth', () => {
  const bodyOf = (error: unknown): string => toErrorAnswer(error, 'id', true).body.toString();

  test('N-50 is OAuth JSON whoever raised it', () => {
    expect(bodyOf(refusals.notAcceptable())).toBe(
      '{"error":"invalid_request","error_description":"only the following media types are accepted: application/json"}',
    );
    expect(bodyOf(tooManyRequests())).toContain('"error":"temporarily_unavailable"');
    expect(bodyOf(new Error('x'))).toBe(
      '{"error":"server_error","error_description":"Internal error occurred: see the server log for request id"}',
    );
  });

  test('N-19 keeps its description inside the permitted characters', () => {
    expect(bodyOf(badRequest('the value "é" is bad'))).toBe(
      '{"error":"invalid_request","error_description":"the request was refused"}',
    );
  });

  test('N-57 is not to be kept', () => {
    const { headers } = toErrorAnswer(tooManyRequests(), 'id', true);
    expect(headers).toMatchObject({ 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Retry-After': '1' });
  });

  test('carries the headers of its refusal', () => {
    const headers = { 'WWW-Authenticate': 'Basic realm="gatehouse"' };
    const error = new OAuthError({ ids: [], status: 401, code: 'invalid_client', description: 'd', headers });
    expect(toErrorAnswer(error, 'id', true)).toMatchObject({ status: 401, headers });
  });
});

describe('the private cause', () => {
  test('is known for a 5xx only', () => {
    const cause = new Error('why');
    expect(failureOf(serviceUnavailable('m', 1, cause))).toBe(cause);
    expect(failureOf(new OAuthError({ ids: [], status: 503, code: 'server_error', description: 'd' }, cause))).toBe(
      cause,
    );
    expect(failureOf(cause)).toBe(cause);
    expect(failureOf(badRequest('m'))).toBeUndefined();
  });
});
