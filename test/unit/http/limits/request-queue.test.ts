import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Route } from '../../../../src/http/exchange.ts';
import { createQueueStep, RequestQueue } from '../../../../src/http/limits/request-queue.ts';
import type { Identity } from '../../../../src/oauth/tokens/identity.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

/** Requests of users, and the order in which they went on. Each takes so long; Max has asked a moment ago. */
function start({ load = 1, tookMs = 1 } = {}) {
  const time = { ms: 0 };
  const state = { load, tookMs: 0 };
  const registry = new Registry();
  const queue = new RequestQueue({ clock: { monotonic: () => time.ms }, loopLoad: () => state.load });
  const began: string[] = [];
  const others: string[] = [];
  const errors: unknown[] = [];
  const seats = { taken: 0, most: Number.POSITIVE_INFINITY };
  const queueRequest = createQueueStep({ queue, registry, onOther: (user) => others.push(user) });
  const come = (name: string, admission: Route['admission'] = 'other') => {
    const { exchange, end } = fakeExchange();
    exchange.found({ admission } as Route, []);
    exchange.takeSeat(() => {
      if (seats.taken >= seats.most) throw new Error('no seat');
      seats.taken++;
      return () => seats.taken--;
    });
    exchange.authenticated({ name } as Identity);
    queueRequest(exchange, (error) => {
      time.ms += state.tookMs;
      if (error) errors.push(error);
      else began.push(name);
    });
    return { end };
  };
  /** The end of a turn of the event loop. Returns whose requests went on at once in the next one. */
  const aTurn = async (): Promise<string[]> => {
    const before = began.length;
    await new Promise((resolve) => setImmediate(resolve));
    return began.slice(before);
  };
  come('max');
  began.length = 0;
  others.length = 0;
  seats.taken = 0;
  state.tookMs = tookMs;
  return { state, time, registry, queue, began, others, errors, come, aTurn, seats };
}

const times = (count: number, name: string): string[] => Array<string>(count).fill(name);

describe('at once', () => {
  test('every request goes on while the event loop has time', () => {
    const { come, began, queue } = start({ load: 0.89 });
    for (const name of times(100, 'joe')) come(name);
    expect([began.length, queue.waiting]).toEqual([100, 0]);
  });

  test('every request of a user goes on who was alone for a minute, however busy the event loop is', () => {
    const { come, began, queue, time } = start({ tookMs: 0.1 });
    come('joe');
    time.ms += 60_000;
    for (const name of times(100, 'joe')) come(name);
    expect([began.length, queue.waiting]).toEqual([101, 0]);
    for (const name of ['ann', ...times(100, 'joe')]) come(name);
    expect(queue.waiting).toBe(100);
  });

  test('the queue of calls to the cluster hears whose the other requests are', () => {
    const { come, others } = start({ load: 0 });
    come('joe');
    come('ann', 'gateway');
    expect(others).toEqual(['joe']);
  });
});

describe('while the event loop is busy', () => {
  test('R-26 one long request of a user goes on in a turn, and the first one of everybody else', async () => {
    const { come, began, aTurn, queue } = start();
    for (const name of [...times(4, 'joe'), 'ann', 'eve']) come(name);
    expect([began, queue.waiting]).toEqual([['joe', 'ann', 'eve'], 3]);
    expect(await aTurn()).toEqual(['joe']);
    expect(await aTurn()).toEqual(['joe']);
    come('ann');
    expect(began.at(-1)).toBe('ann');
    expect(await aTurn()).toEqual(['joe']);
    expect(queue.waiting).toBe(0);
  });

  test('R-26 users who wait take turns, each in its own order', async () => {
    const { come, began, aTurn } = start();
    for (const name of [...times(4, 'joe'), 'ann', 'ann', 'eve', 'eve']) come(name);
    expect(began).toEqual(['joe', 'ann', 'eve']);
    const order = [];
    for (let turn = 0; turn < 5; turn++) order.push(...(await aTurn()));
    expect(order).toEqual(['joe', 'ann', 'eve', 'joe', 'joe']);
  });

  test('as many short requests go on in a turn as take a tenth of a millisecond', async () => {
    const { come, began, aTurn, queue } = start({ tookMs: 1 / 32 });
    for (const name of times(17, 'joe')) come(name);
    expect([began.length, queue.waiting]).toEqual([4, 13]);
    for (const most of [4, 4, 4, 1]) expect((await aTurn()).length).toBe(most);
  });

  test('a request that waits holds no place of admission, and is refused when there is none for it later', async () => {
    const { come, aTurn, seats, began, errors } = start();
    for (const name of times(3, 'joe')) come(name);
    expect(seats.taken).toBe(1);
    await aTurn();
    expect([seats.taken, began.length]).toEqual([2, 2]);
    seats.most = 2;
    await aTurn();
    expect([began.length, errors]).toEqual([2, [new Error('no seat')]]);
  });

  test('a request whose client has gone costs no turn and no memory', async () => {
    const { come, aTurn, queue } = start();
    come('joe');
    const gone = come('joe');
    come('joe');
    gone.end();
    expect(queue.waiting).toBe(1);
    expect(await aTurn()).toEqual(['joe']);
    expect(queue.waiting).toBe(0);
  });

  test('those that wait go on in their order when the loop has time again', async () => {
    const { come, aTurn, began, state, queue } = start();
    for (const name of times(3, 'joe')) come(name);
    state.load = 0;
    come('joe');
    come('ann');
    expect([began, queue.waiting]).toEqual([['joe', 'ann'], 3]);
    for (let turn = 0; turn < 3; turn++) expect(await aTurn()).toEqual(['joe']);
    for (let turn = 0; turn < 2; turn++) expect(await aTurn()).toEqual([]);
    for (const name of times(3, 'joe')) come(name);
    expect([began.length, queue.waiting]).toEqual([8, 0]);
  });

  test('the metrics show how many wait', async () => {
    const { come, registry } = start();
    for (const name of times(3, 'joe')) come(name);
    expect(await registry.metrics()).toContain('gatehouse_http_requests_waiting 2\n');
  });
});
