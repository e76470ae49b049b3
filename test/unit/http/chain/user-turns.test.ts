import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createTakeTurn, UserTurns } from '../../../../src/http/chain/user-turns.ts';
import type { Route } from '../../../../src/http/exchange.ts';
import type { Identity } from '../../../../src/oauth/tokens/identity.ts';
import { fakeExchange } from '../../../support/fake-exchange.ts';

/** Requests of users, and the order in which they went on. Each takes so long; Max has asked a moment ago. */
function start({ load = 1, tookMs = 1 } = {}) {
  const time = { ms: 0 };
  const state = { load, tookMs: 0 };
  const registry = new Registry();
  const turns = new UserTurns({ clock: { monotonic: () => time.ms }, loopLoad: () => state.load });
  const began: string[] = [];
  const others: string[] = [];
  const errors: unknown[] = [];
  const places = { taken: 0, most: Number.POSITIVE_INFINITY };
  const takeTurn = createTakeTurn({ turns, registry, onOther: (user) => others.push(user) });
  const come = (name: string, admission: Route['admission'] = 'other') => {
    const { exchange, end } = fakeExchange();
    exchange.found({ admission } as Route, []);
    exchange.takePlace(() => {
      if (places.taken >= places.most) throw new Error('no place');
      places.taken++;
      return () => places.taken--;
    });
    exchange.authenticated({ name } as Identity);
    takeTurn(exchange, (error) => {
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
  places.taken = 0;
  state.tookMs = tookMs;
  return { state, time, registry, turns, began, others, errors, come, aTurn, places };
}

const times = (count: number, name: string): string[] => Array<string>(count).fill(name);

describe('at once', () => {
  test('every request goes on while the event loop has time', () => {
    const { come, began, turns } = start({ load: 0.89 });
    for (const name of times(100, 'joe')) come(name);
    expect([began.length, turns.waiting]).toEqual([100, 0]);
  });

  test('every request of a user goes on who was alone for a minute, however busy the event loop is', () => {
    const { come, began, turns, time } = start({ tookMs: 0.1 });
    come('joe');
    time.ms += 60_000;
    for (const name of times(100, 'joe')) come(name);
    expect([began.length, turns.waiting]).toEqual([101, 0]);
    for (const name of ['ann', ...times(100, 'joe')]) come(name);
    expect(turns.waiting).toBe(100);
  });

  test('the turns of calls to the cluster hear whose the other requests are', () => {
    const { come, others } = start({ load: 0 });
    come('joe');
    come('ann', 'gateway');
    expect(others).toEqual(['joe']);
  });
});

describe('while the event loop is busy', () => {
  test('R-26 one long request of a user goes on in a turn, and the first one of everybody else', async () => {
    const { come, began, aTurn, turns } = start();
    for (const name of [...times(4, 'joe'), 'ann', 'eve']) come(name);
    expect([began, turns.waiting]).toEqual([['joe', 'ann', 'eve'], 3]);
    expect(await aTurn()).toEqual(['joe']);
    expect(await aTurn()).toEqual(['joe']);
    come('ann');
    expect(began.at(-1)).toBe('ann');
    expect(await aTurn()).toEqual(['joe']);
    expect(turns.waiting).toBe(0);
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
    const { come, began, aTurn, turns } = start({ tookMs: 1 / 32 });
    for (const name of times(17, 'joe')) come(name);
    expect([began.length, turns.waiting]).toEqual([4, 13]);
    for (const most of [4, 4, 4, 1]) expect((await aTurn()).length).toBe(most);
  });

  test('a request that waits holds no place of admission, and is refused when there is none for it later', async () => {
    const { come, aTurn, places, began, errors } = start();
    for (const name of times(3, 'joe')) come(name);
    expect(places.taken).toBe(1);
    await aTurn();
    expect([places.taken, began.length]).toEqual([2, 2]);
    places.most = 2;
    await aTurn();
    expect([began.length, errors]).toEqual([2, [new Error('no place')]]);
  });

  test('a request whose client has gone costs no turn and no memory', async () => {
    const { come, aTurn, turns } = start();
    come('joe');
    const gone = come('joe');
    come('joe');
    gone.end();
    expect(turns.waiting).toBe(1);
    expect(await aTurn()).toEqual(['joe']);
    expect(turns.waiting).toBe(0);
  });

  test('those that wait go on in their order when the loop has time again', async () => {
    const { come, aTurn, began, state, turns } = start();
    for (const name of times(3, 'joe')) come(name);
    state.load = 0;
    come('joe');
    come('ann');
    expect([began, turns.waiting]).toEqual([['joe', 'ann'], 3]);
    for (let turn = 0; turn < 3; turn++) expect(await aTurn()).toEqual(['joe']);
    for (let turn = 0; turn < 2; turn++) expect(await aTurn()).toEqual([]);
    for (const name of times(3, 'joe')) come(name);
    expect([began.length, turns.waiting]).toEqual([8, 0]);
  });

  test('the metrics show how many wait', async () => {
    const { come, registry } = start();
    for (const name of times(3, 'joe')) come(name);
    expect(await registry.metrics()).toContain('gatehouse_http_requests_waiting 2\n');
  });
});
