import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../../src/http/exchange.ts';
import { createRecheck } from '../../../../src/http/watch/recheck.ts';
import { serviceUnavailable, tooManyRequests } from '../../../../src/status-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Rechecks each 10 s, as a stream does; `answer` is what the next question for the right is answered with. */
function create() {
  const clock = new FakeClock();
  const state: { asked: number; answer: Error | undefined; source: 'review' | 'stale' } = {
    asked: 0,
    answer: undefined,
    source: 'review',
  };
  const exchange = {} as Exchange;
  const authorize = async (): Promise<'next'> => {
    state.asked++;
    if (state.answer) throw state.answer;
    Object.assign(exchange, { decision: { allowed: true, source: state.source } });
    return 'next';
  };
  const recheck = createRecheck({ authenticate: () => 'next', authorize }, clock, 600_000)(exchange);
  /** What the rechecks come to; the error ends a stream. */
  const pass = async (times: number): Promise<unknown> => {
    for (let time = 0; time < times; time++) {
      await clock.advance(10_000);
      const end = await Promise.resolve(recheck()).catch((error: unknown) => error);
      if (end) return end;
    }
    return undefined;
  };
  return { state, pass };
}

describe('the right to an open stream', () => {
  test('is asked for every 30 s', async () => {
    const { state, pass } = create();
    expect(await pass(12)).toBeUndefined();
    expect(state.asked).toBe(4);
  });

  test('holds for as long as is set while the cluster does not answer', async () => {
    const { state, pass } = create();
    state.answer = serviceUnavailable('authorization is not available', 5);
    expect(await pass(60)).toBeUndefined();
    expect(await pass(1)).toBe(state.answer);
  });

  test('A-50 is asked for at each call while there is no new answer', async () => {
    const { state, pass } = create();
    state.source = 'stale';
    await pass(6);
    expect(state.asked).toBe(4); // after 30, 40, 50 and 60 s
    state.source = 'review';
    await pass(6);
    expect(state.asked).toBe(6);
  });

  test('A-50 does not hold for our own want of seats: asked again after 10 s, that is its end', async () => {
    const { state, pass } = create();
    state.answer = tooManyRequests();
    expect(await pass(3)).toBeUndefined();
    expect(await pass(1)).toBe(state.answer);
    expect(state.asked).toBe(2);
  });

  test('A-50 goes on when a place is found in time', async () => {
    const { state, pass } = create();
    state.answer = tooManyRequests();
    expect(await pass(3)).toBeUndefined();
    state.answer = undefined;
    expect(await pass(1)).toBeUndefined();
    state.answer = tooManyRequests();
    expect(await pass(3)).toBeUndefined();
  });

  test('ends at once with the cluster’s no', async () => {
    const { state, pass } = create();
    state.answer = new Error('no');
    expect(await pass(3)).toBe(state.answer);
  });
});

describe('the bearer of a service account', () => {
  const start = () => {
    const clock = new FakeClock();
    const state: { answer: Error | undefined } = { answer: undefined };
    const authenticate = async (): Promise<'next'> => {
      if (state.answer) throw state.answer;
      return 'next';
    };
    const steps = { authenticate, authorize: async () => 'next' as const };
    const recheck = createRecheck(steps, clock, 600_000)({} as Exchange);
    const pass = async (): Promise<unknown> => {
      await clock.advance(10_000);
      return Promise.resolve(recheck()).catch((error: unknown) => error);
    };
    return { state, pass };
  };

  test('A-50 is asked for once more when our seats are taken, then that is the end', async () => {
    const { state, pass } = start();
    expect(await pass()).toBeUndefined();
    state.answer = tooManyRequests();
    expect([await pass(), await pass()]).toEqual([undefined, state.answer]);
  });

  test('A-50 that is refused ends the stream at once', async () => {
    const { state, pass } = start();
    state.answer = new Error('no');
    expect(await pass()).toBe(state.answer);
  });
});
