import { describe, expect, test } from 'vitest';
import { unauthorized } from '../../../../src/http/answer/refusals.ts';
import type { Exchange } from '../../../../src/http/exchange.ts';
import { createRefusalThrottle, throttleRefusals } from '../../../../src/http/limits/refusal-throttle.ts';
import { OAuthError } from '../../../../src/oauth/oauth-error.ts';
import { serviceUnavailable, tooManyRequests } from '../../../../src/status-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const refusal = (status: number) => new OAuthError({ ids: [], status, code: 'invalid_grant', description: 'no' });

/** A route that always answers so, and when each of its answers was there. */
function newRoute(error: Error = refusal(429)) {
  const clock = new FakeClock();
  const handler = throttleRefusals(createRefusalThrottle(clock), () => Promise.reject(error));
  const seats = { left: 0 };
  const answeredAt: number[] = [];
  const ask = (signal = new AbortController().signal): void => {
    const exchange = { signal, leaveSeat: () => seats.left++ } as unknown as Exchange;
    void Promise.resolve(handler(exchange)).catch((thrown: unknown) => {
      expect(thrown).toBe(error);
      answeredAt.push(clock.monotonic());
    });
  };
  return { clock, ask, answeredAt, seats };
}

describe('the throttle of refusals', () => {
  test('R-02 sends the first 50 at once, and then one each 5 ms', async () => {
    const { clock, ask, answeredAt } = newRoute();
    for (let index = 0; index < 150; index++) ask();
    await clock.advance(0);
    expect(answeredAt).toHaveLength(50);
    await clock.advance(250);
    expect(answeredAt).toHaveLength(100);
    await clock.advance(250);
    expect(answeredAt).toHaveLength(150);
  });

  test('R-02 keeps the one after them waiting for what is left of its 5 ms', async () => {
    const { clock, ask, answeredAt } = newRoute();
    for (let index = 0; index < 50; index++) ask();
    await clock.advance(4);
    ask();
    await clock.advance(10);
    expect(answeredAt.slice(49)).toEqual([0, 5]);
  });

  test('R-02 keeps nobody waiting for more than a second, and nobody at all a second later', async () => {
    const { clock, ask, answeredAt } = newRoute();
    for (let index = 0; index < 5_000; index++) ask();
    await clock.advance(1000);
    expect(answeredAt).toHaveLength(5_000);
    await clock.advance(250);
    ask();
    await clock.advance(0);
    expect(answeredAt).toHaveLength(5_001);
  });

  test.each([refusal(401), tooManyRequests(), serviceUnavailable('m', 5)])(
    'R-21 holds back who is not let in under /oauth, and a refusal of the API, as well: %s',
    async (error) => {
      const { clock, ask, answeredAt } = newRoute(error);
      for (let index = 0; index < 60; index++) ask();
      await clock.advance(0);
      expect(answeredAt).toHaveLength(50);
    },
  );

  test('gives the place of admission back before it waits', async () => {
    const { ask, seats, answeredAt, clock } = newRoute();
    for (let index = 0; index < 60; index++) ask();
    await clock.advance(0);
    expect([seats.left, answeredAt.length]).toEqual([60, 50]);
  });

  test('waits for no client that has gone', async () => {
    const { ask, clock, answeredAt } = newRoute();
    for (let index = 0; index < 60; index++) ask(AbortSignal.abort());
    await clock.advance(0);
    expect([answeredAt.length, clock.pendingTimers]).toEqual([60, 0]);
  });

  test.each([refusal(400), refusal(503), unauthorized('no', 'Bearer'), new Error('a bug')])(
    'holds nothing else back: %s',
    async (error) => {
      const { ask, clock, answeredAt, seats } = newRoute(error);
      for (let index = 0; index < 60; index++) ask();
      await clock.advance(0);
      expect([answeredAt.length, seats.left]).toEqual([60, 0]);
    },
  );
});
