import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { connectLine, createAccessLog } from '../../../src/http/access-log.ts';
import type { Exchange, Route } from '../../../src/http/exchange.ts';
import type { Identity } from '../../../src/oauth/tokens/identity.ts';
import { createLogger, type Logger } from '../../../src/observability/logger.ts';
import { fakeExchange } from '../../support/fake-exchange.ts';

type Line = Readonly<Record<string, unknown>>;
type Asked = Parameters<typeof fakeExchange>[0];

/** An access log, and the lines that it wrote. */
function newLog(level: 'debug' | 'info' = 'debug') {
  const texts: string[] = [];
  const logger = createLogger({ level, format: 'json' }, { write: (line) => texts.push(line) });
  const log = createAccessLog(logger);
  const lineOf = (asked: Asked, change: Partial<Exchange> = {}, durationMs = 1): Line => {
    log(Object.assign(fakeExchange(asked).exchange, change), durationMs);
    return JSON.parse(texts.at(-1) ?? '{}');
  };
  return { logger, texts, lineOf };
}

const alice: Identity = { name: 'alice', uid: 'u-1', groups: [], clientId: 'console', sid: 's-1' };
const route = (admission: Route['admission']): Route => ({ template: '/x', admission }) as Route;

describe('the line of a request', () => {
  test.each([
    [200, false, undefined],
    [401, false, 'expired'],
    [499, false, 'expired'],
    [500, false, undefined],
    [200, true, 'expired'],
  ])('of %i, a stream: %s, tells the reason %s', (status, isStream, reason) => {
    const line = newLog().lineOf({ status }, { reason: 'expired', streamedAt: isStream ? 0 : undefined });
    expect(line['reason']).toBe(reason);
  });

  test.each([
    [200, false, undefined],
    [499, false, undefined],
    [500, false, 'no disk'],
    [200, true, 'no disk'],
  ])('of %i, a stream: %s, tells the failure %s', (status, isStream, error) => {
    const line = newLog().lineOf({ status }, { failure: 'no disk', streamedAt: isStream ? 0 : undefined });
    expect(line['error']).toBe(error);
  });

  test('of a stream that ended well has no error', () => {
    expect(newLog().lineOf({ status: 200 }, { streamedAt: 0 })).not.toHaveProperty('error');
  });

  test('has the stack of an error and the message of its cause, 2,048 characters of both', () => {
    const { lineOf } = newLog();
    const failure = Object.assign(new Error('m', { cause: new Error('why') }), { stack: 'Error: m at x' });
    expect(lineOf({ status: 500 }, { failure })['error']).toBe('Error: m at x; caused by: why');
    const long = Object.assign(new Error('m'), { stack: `${'s'.repeat(2_047)}xy` });
    expect(lineOf({ status: 500 }, { failure: long })['error']).toBe(`${'s'.repeat(2_047)}x`);
    const text = lineOf({ status: 500 }, { failure: `${'t'.repeat(2_047)}xy` });
    expect(text['error']).toBe(`${'t'.repeat(2_047)}x`);
    const bare = Object.assign(new Error('only a message'), { stack: undefined });
    expect(lineOf({ status: 500 }, { failure: bare })['error']).toBe('only a message');
  });

  test('says whether the client went, and the time in milliseconds to the microsecond', () => {
    const { lineOf } = newLog();
    expect(lineOf({ status: 200, whole: false }, {}, 1.234_567)).toMatchObject({ aborted: true, durationMs: 1.235 });
    expect(lineOf({ status: 200, whole: true })).not.toHaveProperty('aborted');
  });

  test.each([
    ['health', 200, 'debug'],
    ['health', 503, 'debug'],
    ['health', 500, 'error'],
    ['other', 499, 'info'],
    ['other', 500, 'error'],
  ] as const)('for %s with %i is at level %s', (admission, status, level) => {
    expect(newLog().lineOf({ status }, { route: route(admission) })['level']).toBe(level);
  });

  test('is not written where its level is off', () => {
    const { lineOf, texts } = newLog('info');
    lineOf({ status: 200 }, { route: route('health') });
    expect(texts).toEqual([]);
  });

  test('is 8 KiB at most, whatever its target', () => {
    const { lineOf, texts } = newLog();
    const rawTarget = `/${'\u{1}'.repeat(4_000)}`;
    lineOf({ status: 200, rawTarget, headers: { 'user-agent': '\u{1}'.repeat(4_000) } }, { identity: alice });
    expect(texts[0]?.length).toBeLessThanOrEqual(8 * 1024);
  });
});

describe('the line of a CONNECT', () => {
  test.each([
    ['a:443', 'a:443'],
    ['joe:canary@a:443', 'a:443'],
    ['a:443?canary', 'a:443'],
    ['joe:canary@a:443#canary@b', 'a:443'],
    [undefined, ''],
  ])('names the host and port of %s alone', (url, path) => {
    const request = { url, headers: { 'user-agent': 'a test' }, socket: { remoteAddress: '::ffff:192.0.2.1' } };
    expect(connectLine(request as unknown as IncomingMessage, 'r-1')).toEqual({
      ...{ requestId: 'r-1', method: 'CONNECT', route: 'other', path, rule: 'connect', source: '192.0.2.1' },
      userAgent: 'a test',
    });
  });
});

describe('the part of a line that a caller repeats', () => {
  test('is written as JSON once for all its requests to one place', () => {
    const { logger, texts } = newLog();
    let made = 0;
    const counted = (parent: Logger): Logger =>
      new Proxy(parent, {
        get: (target, name) => {
          if (name !== 'child') return Reflect.get(target, name);
          return (...given: Parameters<Logger['child']>) => {
            made++;
            return counted(target.child(...given) as unknown as Logger);
          };
        },
      });
    const log = createAccessLog(counted(logger));
    const ask = (identity: Identity): void =>
      log(Object.assign(fakeExchange({ status: 200 }).exchange, { identity }), 1);
    const before = made;
    ask(alice);
    ask(alice);
    expect(made - before).toBe(1);
    ask({ ...alice, sid: 's-2' });
    expect([made - before, texts.length]).toEqual([2, 3]);
    // A thousand callers are kept; the next one begins anew.
    for (let index = 3; index <= 1_000; index++) ask({ ...alice, sid: `s-${index}` });
    ask(alice);
    expect(made - before).toBe(1_000);
    ask({ ...alice, sid: 's-1001' });
    ask(alice);
    expect(made - before).toBe(1_002);
  });

  test.each<[string, Partial<Exchange>]>([
    ['source', { source: '192.0.2.2' }],
    ['decision', { decision: { allowed: false, source: 'cache' } }],
    ['route', { route: route('other') }],
    ['sid', { identity: { ...alice, sid: 's-2' } }],
    ['clientId', { identity: { ...alice, clientId: 'cli' } }],
    [
      'namespace',
      {
        info: {
          isResource: true,
          prefix: 'api',
          verb: 'get',
          group: '',
          version: 'v1',
          namespace: 'd',
          resource: 'pods',
          name: 'p',
          subresource: '',
          fieldSelector: '',
          labelSelector: '',
        },
      },
    ],
  ])('is that of another place where %s differs', (member, change) => {
    const { lineOf } = newLog();
    const first = lineOf({ status: 200 }, { identity: alice, source: '192.0.2.1' });
    const second = lineOf({ status: 200 }, { identity: alice, source: '192.0.2.1', ...change });
    expect(second[member]).toBeDefined();
    expect(second[member]).not.toEqual(first[member]);
  });
});
