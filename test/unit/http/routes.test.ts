import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ErrorRequestHandler } from 'express';
import { describe, expect, test } from 'vitest';
import { createRouter } from '../../../src/http/chain/chain.ts';
import { allowOf } from '../../../src/http/chain/method.ts';
import { mountRoutes } from '../../../src/http/chain/routes.ts';
import type { Exchange, Route } from '../../../src/http/exchange.ts';
import { fakeExchange } from '../../support/fake-exchange.ts';

const route = (template: string, methods: Route['methods'] = { GET: () => {} }): Route => ({
  template,
  access: 'public',
  admission: 'other',
  produces: 'any',
  methods,
});

/** What comes of a request that the guard has let through. */
function ask(routes: readonly Route[], method: string, url: string): { exchange: Exchange; error: unknown } {
  const router = createRouter();
  mountRoutes(router, routes, () => []);
  const { exchange } = fakeExchange({ method });
  const request = Object.assign(new IncomingMessage(new Socket()), { method, url });
  const response = Object.assign(new ServerResponse(request), { locals: { exchange } });
  let failure: unknown;
  router.use(((error, _request, _response, _next) => {
    failure = error;
  }) satisfies ErrorRequestHandler);
  router(request as never, response as never, () => {});
  return { exchange, error: failure };
}

/** The route that serves a GET of this path, with its parameters; `undefined` when there is none. */
function find(routes: readonly Route[], path: string): unknown {
  const { route, parameters } = ask(routes, 'GET', path).exchange;
  return route && [route.template, ...parameters];
}

describe('the routes on their router', () => {
  const routes = [route('/'), route('/a'), route('/a/b'), route('/a/{x}'), route('/a/{x}/c/{y}')];

  test.each([
    ['/', ['/']],
    ['/a', ['/a']],
    ['/a/b', ['/a/b']],
    ['/a/z', ['/a/{x}', 'z']],
    ['/a/z/c/q', ['/a/{x}/c/{y}', 'z', 'q']],
    ['/a/%20%2Fz', ['/a/{x}', ' /z']],
  ])('serve %s', (path, found) => {
    expect(find(routes, path)).toEqual(found);
  });

  test.each(['/b', '/A', '/a/z/c', '/a/z/d', '/__proto__', '/a/z/c/q/r'])('do not serve %s', (path) => {
    expect(find(routes, path)).toBeUndefined();
  });

  test('HE-405 refuse a HEAD where there is only a GET', () => {
    const asked: string[] = [];
    const get = (): void => void asked.push('GET');
    const refusal = ask([route('/a', { GET: get })], 'HEAD', '/a').error;
    expect(refusal).toMatchObject({ answer: { code: 405, headers: { Allow: 'GET, OPTIONS' } } });
    expect(asked).toEqual([]);
  });

  test('are not two of one shape', () => {
    const twice = [route('/a/{x}'), route('/a/{y}')];
    expect(() => mountRoutes(createRouter(), twice, () => [])).toThrow('two routes for /a/{y}');
  });

  test('HE-405 allow the methods in alphabetical order, OPTIONS included', () => {
    const none = (): void => {};
    expect(allowOf(route('/', { PUT: none, GET: none, DELETE: none }))).toBe('DELETE, GET, OPTIONS, PUT');
  });
});
