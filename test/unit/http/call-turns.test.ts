import { describe, expect, test } from 'vitest';
import { CallTurns } from '../../../src/http/gateway/call-turns.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Calls to the cluster, and the order in which they began. */
function start({ load }: { load: number }) {
  const clock = new FakeClock();
  const state = { load };
  const turns = new CallTurns({ clock, loopLoad: () => state.load });
  const began: number[] = [];
  let came = 0;
  const call = async (count = 1): Promise<void> => {
    for (let index = 0; index < count; index++) {
      const number = came++;
      void Promise.resolve(turns.take()).then(() => began.push(number));
    }
    await Promise.resolve();
  };
  const others = (count: number): void => {
    for (let index = 0; index < count; index++) turns.other();
  };
  return { clock, state, turns, began, call, others };
}

describe('a call to the cluster begins at once', () => {
  test('while the event loop has time', async () => {
    const { began, call, others } = start({ load: 0.89 });
    others(20);
    await call(100);
    expect(began.length).toBe(100);
  });

  test('while nobody else asks, however busy the loop is', async () => {
    const { clock, began, call, others } = start({ load: 1 });
    await call(100);
    expect(began.length).toBe(100);
    others(1);
    await clock.advance(5);
    await call(100);
    expect(began.length).toBe(200);
  });
});

describe('beside others, in a busy loop, a call', () => {
  test('begins after 48 of them', async () => {
    const { began, turns, call, others } = start({ load: 1 });
    others(1);
    await call();
    expect(began).toEqual([0]); // there was none before it to wait for
    others(1);
    await call(2);
    others(46);
    await aTurn();
    expect([began, turns.waiting]).toEqual([[0], 2]);
    others(1);
    await aTurn();
    expect([began, turns.waiting]).toEqual([[0, 1], 1]);
    others(48);
    await aTurn();
    expect([began, turns.waiting]).toEqual([[0, 1, 2], 0]);
  });

  test('waits for at most 10 ms from the call before it, so that none waits for ever', async () => {
    const { clock, began, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(20);
    for (let ms = 1; ms <= 200; ms++) {
      await clock.advance(1);
      await aTurn();
      others(1);
      if (ms % 10 === 9) expect(began.length).toBe(Math.floor(ms / 10) + 1);
    }
    expect(began).toEqual(Array.from({ length: 21 }, (_, index) => index));
  });

  test('waits no longer when they stop asking', async () => {
    const { clock, began, turns, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(5);
    await clock.advance(4);
    expect(turns.waiting).toBe(5);
    await clock.advance(1);
    for (let turn = 0; turn < 5; turn++) await aTurn();
    expect(began).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('waits no longer when the loop has time again, and then begins in its order', async () => {
    const { clock, state, began, turns, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(5);
    state.load = 0.5;
    await call();
    expect([began, turns.waiting]).toEqual([[0], 6]);
    await clock.advance(5);
    for (let turn = 0; turn < 6; turn++) await aTurn();
    expect(began).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
