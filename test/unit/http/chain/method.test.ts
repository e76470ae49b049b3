import { describe, expect, test } from 'vitest';
import type { AnswerBody, AnswerWriter } from '../../../../src/http/answer/answer.ts';
import { createCors } from '../../../../src/http/answer/cors.ts';
import { answerMethod } from '../../../../src/http/chain/routes.ts';
import type { Route } from '../../../../src/http/exchange.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

const ORIGIN = 'https://console.example.com';

/** What a request of this method gets, on a path that POST and GET are served on, or on none. */
function ask(method: string, isServed = true, headers: Readonly<Record<string, string>> = {}) {
  const sent: unknown[] = [];
  const writer: Pick<AnswerWriter, 'send'> = {
    send: (_exchange, status, own, { length }: AnswerBody) => sent.push([status, own, length]),
  };
  const { exchange } = fakeExchange({ method, headers });
  if (isServed) exchange.found({ methods: { POST: () => {}, GET: () => {} } } as unknown as Route, []);
  const step = answerMethod(writer as AnswerWriter, createCors([ORIGIN]));
  return { outcome: () => step(exchange), sent };
}

describe('the method of a request', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s is left to the route', (method) => {
    for (const isServed of [true, false]) expect(ask(method, isServed).outcome()).toBe('next');
  });

  test('OPTIONS is answered with what the route has, without credentials', () => {
    const { outcome, sent } = ask('OPTIONS');
    expect([outcome(), sent]).toEqual(['answered', [[204, { Allow: 'GET, OPTIONS, POST' }, 0]]]);
  });

  test.each([
    ['a configured origin', ORIGIN, true],
    ['another origin', 'https://other.example.com', false],
  ])('OPTIONS of %s gets what its preflight asks for, or not', (_, origin, isListed) => {
    const { outcome, sent } = ask('OPTIONS', true, { origin, 'access-control-request-method': 'POST' });
    expect(outcome()).toBe('answered');
    const preflight = {
      'Access-Control-Allow-Methods': 'GET, OPTIONS, POST',
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id, traceparent, tracestate',
      'Access-Control-Max-Age': '600',
    };
    expect(sent).toEqual([[204, { Allow: 'GET, OPTIONS, POST', ...(isListed && preflight) }, 0]]);
  });

  test('OPTIONS is 404 where nothing is served', () => {
    expect(ask('OPTIONS', false).outcome).toThrow('the server could not find the requested resource');
  });

  test.each(['TRACE', 'PROPFIND', 'get'])('%s is 405, with what the route has', (method) => {
    const refused = (headers: object): unknown =>
      expect.objectContaining({ answer: expect.objectContaining({ code: 405, headers }) });
    expect(ask(method).outcome).toThrow(refused({ Allow: 'GET, OPTIONS, POST' }) as Error);
    expect(ask(method, false).outcome).toThrow(refused({ Allow: '' }) as Error);
  });
});
