import { describe, expect, test } from 'vitest';
import { createAnswerDeadline } from '../../../../src/http/chain/answer-deadline.ts';
import { createAuthenticate } from '../../../../src/http/chain/authenticate.ts';
import type { HttpMetrics } from '../../../../src/http/metrics.ts';
import type { Identity, Verification } from '../../../../src/oauth/tokens/identity.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

const alice: Identity = { name: 'alice', uid: 'u-1', groups: [], clientId: 'console', sid: 's-1' };
const REALM = 'Bearer realm="gatehouse"';

/** A request with this Authorization header, whose bearer is judged so. */
function ask(authorization: string | undefined, judged: Verification | Promise<Verification> = { fault: 'invalid' }) {
  const clock = new FakeClock();
  const refused: string[] = [];
  const verified: string[][] = [];
  const metrics: Partial<HttpMetrics> = { bearerRefused: (result) => refused.push(result) };
  const step = createAuthenticate({
    platform: 'gatehouse',
    maxBearerBytes: 100,
    metrics: metrics as HttpMetrics,
    deadline: createAnswerDeadline(clock, 30_000),
    verifier: {
      verify: (text, source) => {
        verified.push([text, source]);
        return judged;
      },
    },
  });
  const { exchange } = fakeExchange({
    headers: authorization === undefined ? {} : { authorization },
    source: '192.0.2.1',
  });
  const outcome = (async () => step(exchange))();
  outcome.catch(() => {});
  return { outcome, exchange, clock, refused, verified };
}

const answerOf = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => 'none',
    (error: unknown) => (error instanceof StatusError ? error.answer : error),
  );

describe('the caller of a request', () => {
  test.each([false, true])('is known by its bearer, whether it has to be waited for or not: %s', async (waits) => {
    const judged: Verification = { identity: alice, cached: true };
    const { outcome, exchange, verified, clock } = ask('Bearer a.b.c', waits ? Promise.resolve(judged) : judged);
    expect(await outcome).toBe('next');
    expect([exchange.identity, verified]).toEqual([alice, [['a.b.c', '192.0.2.1']]]);
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  test.each([
    ['expired', 'the access token has expired'],
    ['revoked', 'the access token has been revoked'],
    ['not_yet_valid', 'the access token is not valid yet; check the clocks'],
    ['invalid', 'the access token is not valid'],
  ] as const)('is refused with a bearer that is %s', async (fault, sentence) => {
    for (const judged of [{ fault }, Promise.resolve({ fault })]) {
      const { outcome, exchange, refused } = ask('Bearer a.b.c', judged);
      expect(await answerOf(outcome)).toMatchObject({
        ...{ code: 401, reason: 'Unauthorized', message: `Unauthorized: ${sentence}` },
        headers: { 'WWW-Authenticate': `${REALM}, error="invalid_token"` },
      });
      expect([exchange.reason, refused, exchange.identity]).toEqual([fault, [], undefined]);
    }
  });

  test.each([
    ['absent', undefined, 401, 'Unauthorized: no bearer token was sent', REALM],
    [
      'malformed',
      `Bearer ${'a'.repeat(101)}`,
      401,
      'Unauthorized: the access token is not valid',
      `${REALM}, error="invalid_token"`,
    ],
    [
      'malformed',
      'Bearer a b',
      400,
      'the request is malformed: its Authorization header is not one bearer token',
      `${REALM}, error="invalid_request"`,
    ],
  ])('is refused, and counted as %s, with %j, without a look at it', async (result, sent, code, message, challenge) => {
    const { outcome, exchange, refused, verified } = ask(sent);
    expect(await answerOf(outcome)).toMatchObject({ code, message, headers: { 'WWW-Authenticate': challenge } });
    expect([exchange.reason, refused, verified]).toEqual([result, [result], []]);
  });

  test('HL-06 is 504 when nobody says in time who it is', async () => {
    const { outcome, clock } = ask('Bearer a.b.c', new Promise(() => {}));
    let isOver = false;
    outcome.catch(() => {
      isOver = true;
    });
    await clock.advance(29_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await answerOf(outcome)).toMatchObject({ code: 504 });
  });
});
