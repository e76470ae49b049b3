import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createTakeTurn, UserTurns } from '../../../src/http/chain/user-turns.ts';
import type { Route } from '../../../src/http/exchange.ts';
import type { Identity } from '../../../src/oauth/tokens/identity.ts';
import { fakeExchange } from '../../support/fake-exchange.ts';

/** Requests of users, and the order in which they went on. */
function start({ load = 1 } = {}) {
  const time = { ms: 0 };
  const state = { load };
  const registry = new Registry();
  const turns = new UserTurns({ clock: { monotonic: () => time.ms }, loopLoad: () => state.load });
  const step = createTakeTurn({ turns, registry, onOther: (user) => others.push(user) });
  const began: string[] = [];
  const others: string[] = [];
  const places = { taken: 0, most: Number.POSITIVE_INFINITY };
  const come = (name: string, admission: Route['admission'] = 'other') => {
    const { exchange, end } = fakeExchange();
    exchange.found({ admission } as Route, []);
    exchange.takePlace(() => {
      if (places.taken >= places.most) throw new Error('no place');
      places.taken++;
      return () => places.taken--;
    });
    exchange.authenticated({ name } as Identity);
    const outcome = Promise.resolve(step(exchange));
    void outcome.then(
      (settled) => settled === 'next' && began.push(name),
      () => undefined,
    );
    return { exchange, end, outcome };
  };
  /** The end of a turn of the event loop that took so long. Returns whose requests go on in the next one. */
  const aTurn = async (ms = 2): Promise<string[]> => {
    const before = began.length;
    time.ms += ms;
    await new Promise((resolve) => setImmediate(resolve));
    return began.slice(before);
  };
  /** Turns are long, until only one request goes on in each. */
  const untilSlow = async (): Promise<void> => {
    come('somebody');
    for (let turn = 0; turn < 5; turn++) {
      come('warm');
      await aTurn();
    }
    while (turns.waiting > 0) await aTurn();
    await aTurn();
    began.length = 0;
    places.taken = 0;
  };
  return { state, registry, turns, began, others, come, aTurn, untilSlow, places };
}

const tick = async (): Promise<void> => {
  for (let hop = 0; hop < 5; hop++) await Promise.resolve();
};

describe('while the event loop has time', () => {
  test('every request goes on at once', async () => {
    const { come, began, turns } = start({ load: 0.89 });
    for (let index = 0; index < 100; index++) come('joe');
    await tick();
    expect([began.length, turns.waiting]).toEqual([100, 0]);
  });
});

test('the turns of calls to the cluster hear whose the other requests are', () => {
  const { come, others } = start({ load: 0 });
  come('joe');
  come('ann', 'gateway');
  expect(others).toEqual(['joe']);
});

test('a user who was alone for a minute never waits, however busy the event loop is', async () => {
  const { come, began, turns, aTurn } = start();
  for (let index = 0; index < 100; index++) come('joe');
  await tick();
  expect([began.length, turns.waiting]).toEqual([100, 0]);
  come('ann');
  for (let index = 0; index < 100; index++) come('joe');
  expect(turns.waiting).toBe(93);
  while (turns.waiting > 0) await aTurn(0);
  await aTurn(60_000);
  for (let index = 0; index < 100; index++) come('joe');
  expect(turns.waiting).toBe(0);
});

describe('while the event loop is busy', () => {
  test('R-26 one request of a user goes on in a turn that is long, and the first one of everybody else', async () => {
    const { come, began, aTurn, untilSlow, turns } = start();
    await untilSlow();
    for (let index = 0; index < 4; index++) come('joe');
    come('ann');
    come('eve');
    await tick();
    expect([began, turns.waiting]).toEqual([['joe', 'ann', 'eve'], 3]);
    expect(await aTurn()).toEqual(['joe']);
    expect(await aTurn()).toEqual(['joe']);
    come('ann');
    await tick();
    expect(began.at(-1)).toBe('ann');
    expect(await aTurn()).toEqual(['joe']);
    expect(turns.waiting).toBe(0);
  });

  test('R-26 users who wait take turns, each in its own order', async () => {
    const { come, began, aTurn, untilSlow } = start();
    await untilSlow();
    for (const user of ['joe', 'joe', 'joe', 'joe', 'ann', 'ann', 'eve', 'eve']) come(user);
    await tick();
    expect(began).toEqual(['joe', 'ann', 'eve']);
    const order = [];
    for (let turn = 0; turn < 5; turn++) order.push(...(await aTurn()));
    expect(order).toEqual(['joe', 'ann', 'eve', 'joe', 'joe']);
  });

  test('more requests go on in a turn when turns are short', async () => {
    const { come, began, aTurn, untilSlow } = start();
    for (const user of ['somebody', 'ann']) come(user);
    for (let index = 0; index < 40; index++) come('joe');
    await tick();
    expect(began).toEqual(['somebody', 'ann', ...Array<string>(7).fill('joe')]); // 8 at first, since somebody was alone, and at most
    await untilSlow();
    for (let index = 0; index < 10; index++) come('joe');
    await tick();
    expect(began.length).toBe(1);
    for (const most of [2, 3, 4]) expect((await aTurn(0.2)).length).toBe(most);
  });

  test('a request that waits holds no place of admission, and is refused when there is none for it later', async () => {
    const { come, aTurn, untilSlow, places, began } = start();
    await untilSlow();
    come('joe');
    come('joe');
    const third = come('joe');
    expect(places.taken).toBe(1);
    await aTurn();
    expect([places.taken, began.length]).toEqual([2, 2]);
    places.most = 2;
    const refused = expect(third.outcome).rejects.toThrow('no place');
    await aTurn();
    await refused;
  });

  test('a request whose client has gone costs no turn and no memory', async () => {
    const { come, aTurn, untilSlow, turns } = start();
    await untilSlow();
    come('joe');
    const gone = come('joe');
    come('joe');
    gone.end();
    expect(await gone.outcome).toBe('answered');
    expect(turns.waiting).toBe(1);
    expect(await aTurn()).toEqual(['joe']);
    expect(turns.waiting).toBe(0);
  });

  test('those that wait go on in their order when the loop has time again', async () => {
    const { come, aTurn, began, untilSlow, state, turns } = start();
    await untilSlow();
    for (let index = 0; index < 3; index++) come('joe');
    state.load = 0;
    come('joe');
    come('ann');
    await tick();
    expect([began, turns.waiting]).toEqual([['joe', 'ann'], 3]);
    for (let turn = 0; turn < 3; turn++) expect(await aTurn()).toEqual(['joe']);
    await aTurn();
    come('joe');
    await tick();
    expect([began.length, turns.waiting]).toEqual([6, 0]);
  });

  test('the metrics show how many wait', async () => {
    const { come, untilSlow, registry } = start();
    await untilSlow();
    for (let index = 0; index < 3; index++) come('joe');
    expect(await registry.metrics()).toContain('gatehouse_http_requests_waiting 2\n');
  });
});
