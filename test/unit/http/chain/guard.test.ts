import { describe, expect, test } from 'vitest';
import { createGuard } from '../../../../src/http/chain/guard.ts';
import type { HttpMetrics } from '../../../../src/http/metrics.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { defaultLimits } from '../../../support/default-limits.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

const HOST = ['Host', 'a'];

interface Sent {
  readonly target?: string;
  readonly httpVersion?: string;
  readonly lines?: readonly string[];
}

/** A request with these header lines, names and values in turn, at the guard. */
function send({ target = '/x/one', httpVersion = '1.1', lines = HOST }: Sent) {
  const rejected: string[] = [];
  const metrics: Partial<HttpMetrics> = { rejected: (rule) => rejected.push(rule) };
  const guard = createGuard({
    platform: 'gatehouse',
    limits: { ...defaultLimits, maxHeaders: 5 },
    metrics: metrics as HttpMetrics,
  });
  const { exchange } = fakeExchange({ rawTarget: target });
  const headers: Record<string, string> = {};
  for (let at = 0; at < lines.length; at += 2) headers[lines[at]?.toLowerCase() ?? ''] ??= lines[at + 1] ?? '';
  Object.assign(exchange.request, { httpVersion, headers, rawHeaders: lines });
  const refusal = (() => {
    try {
      return guard(exchange);
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
  })();
  return { exchange, rejected, refusal };
}

describe('the guard', () => {
  test('reads the target of a request, and gives the router the path in its one form, without the query', () => {
    const { exchange, refusal } = send({ target: '/x/two/?a=b' });
    expect(refusal).toBeUndefined();
    expect(exchange.target).toEqual({ segments: ['x', 'two'], path: '/x/two/', query: 'a=b' });
    expect(exchange.request.url).toBe('/x/two');
  });

  test.each([
    [{ httpVersion: '1.0', lines: [] }],
    [{ httpVersion: '1.0', lines: HOST }],
    [{ lines: ['hOST', 'example.com:8080'] }],
    [{ lines: ['Host', '[::1]:80'] }],
    [{ lines: ['Host', 'a.example_1~.com'] }],
    [{ lines: [...HOST, 'Authorization', 'Bearer a'] }],
    [{ lines: [...HOST, 'Transfer-Encoding', 'Chunked'] }],
    [{ lines: [...HOST, 'Expect', '100-Continue'] }],
    [{ lines: [...HOST, ...['A', 'B', 'C', 'D'].flatMap((name) => [name, ''])] }],
  ])('lets pass %j', (sent) => {
    expect(send(sent)).toMatchObject({ refusal: undefined, rejected: [] });
  });

  const TWO_HOSTS = 'it has more than one Host header';
  const NOT_CHUNKED = 'its Transfer-Encoding is not chunked';
  test.each<[string, string, string, Sent]>([
    ['N-52', 'version', 'it is neither HTTP/1.1 nor HTTP/1.0', { httpVersion: '2.0' }],
    ['N-53', 'host', 'it has no Host header', { lines: [] }],
    ['N-53', 'host', TWO_HOSTS, { lines: [...HOST, 'host', 'a'] }],
    ['N-53', 'host', TWO_HOSTS, { lines: [...HOST, ...HOST], httpVersion: '1.0' }],
    ['A-07', 'host', 'its Host header is not a host', { lines: ['Host', 'a/b'] }],
    ['A-07', 'host', 'its Host header is not a host', { lines: ['Host', ''] }],
    ['A-07', 'host', 'its Host header is not a host', { lines: ['Host', '[a'], httpVersion: '1.0' }],
    [
      'A-08',
      'authorization',
      'it has more than one Authorization header',
      { lines: [...HOST, 'Authorization', 'Bearer a', 'authorization', 'Bearer a'] },
    ],
    ['A-03', 'transfer_encoding', NOT_CHUNKED, { lines: [...HOST, 'Transfer-Encoding', 'gzip'] }],
    [
      'A-04',
      'transfer_encoding',
      NOT_CHUNKED,
      { lines: [...HOST, 'Transfer-Encoding', 'chunked', 'transfer-encoding', 'chunked'] },
    ],
    [
      'A-03',
      'transfer_encoding',
      NOT_CHUNKED,
      { lines: [...HOST, 'Transfer-Encoding', 'chunked'], httpVersion: '1.0' },
    ],
    ['A-13', 'expect', 'its Expect header is unknown', { lines: [...HOST, 'Expect', 'pie'] }],
    ['A-25', 'target', 'the path has an empty segment', { target: '//x' }],
    ['A-25', 'target', 'the request target names another host', { target: 'http://b/x/one' }],
  ])('%s refuses by the rule %s: %s', (_, rule, phrase, sent) => {
    const { refusal, rejected } = send(sent);
    expect(rejected).toEqual([rule]);
    expect(refusal).toMatchObject({
      message: `the request is malformed: ${phrase}`,
      answer: { code: 400, reason: 'BadRequest' },
    });
    const challenge = { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_request"' };
    const closing = { Connection: 'close', ...(rule === 'authorization' ? challenge : {}) };
    expect((refusal as StatusError).answer.headers).toEqual(rule === 'target' ? undefined : closing);
  });

  test('A-09 refuses one header line too many, before it looks at any', () => {
    const { refusal, rejected } = send({ lines: ['A', 'B', 'C', 'D', 'E', 'F'].flatMap((name) => [name, '']) });
    expect(rejected).toEqual(['headers']);
    expect(refusal).toMatchObject({
      message: 'the request is malformed: it has more than 5 header lines',
      answer: { code: 431 },
    });
  });
});
