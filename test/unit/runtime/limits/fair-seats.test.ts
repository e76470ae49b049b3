import { describe, expect, test } from 'vitest';
import { FairSeats, type SeatLimits, type SeatOutcome } from '../../../../src/runtime/limits/fair-seats.ts';

const never = new AbortController().signal;

/** Asks for seats by flow; `order` has what came of each, in the order in which it came. */
function create(limits: SeatLimits) {
  const seats = new FairSeats(limits);
  const order: string[] = [];
  const take = (flow: string, times = 1, signal = never): void => {
    for (let time = 0; time < times; time++)
      void seats.take(flow, signal).then((outcome: SeatOutcome) => order.push(`${flow} ${outcome}`));
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const come = async (): Promise<string[]> => {
    await settled();
    return order.splice(0);
  };
  return { seats, take, come };
}

describe('fair seats', () => {
  test('give one flow no more than its share, though others are free', async () => {
    const { seats, take, come } = create({ count: 4, allows: (_, held) => held < 2 });
    take('flood', 5);
    expect(await come()).toEqual(['flood taken', 'flood taken']);
    expect([seats.taken, seats.waiting]).toEqual([2, 3]);
    take('other', 2);
    expect(await come()).toEqual(['other taken', 'other taken']);
  });

  test('let flows take turns when a seat is free', async () => {
    const { seats, take, come } = create({ count: 1 });
    take('a', 3);
    take('b', 2);
    take('c', 1);
    const turns: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [outcome = ''] = await come();
      const [flow = ''] = outcome.split(' ');
      turns.push(flow);
      seats.release(flow);
    }
    expect(turns).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
  });

  test('pass over a flow that has its share, until it gives a seat back', async () => {
    const { seats, take, come } = create({ count: 3, allows: (_, held) => held < 2 });
    take('a', 3);
    take('b', 1);
    expect(await come()).toEqual(['a taken', 'a taken', 'b taken']);
    take('b', 1);
    seats.release('b');
    expect(await come()).toEqual(['b taken']);
    seats.release('a');
    expect(await come()).toEqual(['a taken']);
  });

  test('refuse one waiter more than a flow may have in the queue', async () => {
    const { take, come } = create({ count: 1, waiting: 10, waitingOfOne: 2 });
    take('a', 4);
    expect(await come()).toEqual(['a taken', 'a no_share']);
    take('b', 2);
    expect(await come()).toEqual([]);
  });

  test('make room in a full queue at the cost of the flow that has the most waiters', async () => {
    const { take, come } = create({ count: 1, waiting: 3 });
    take('a', 4);
    take('b', 2);
    expect(await come()).toEqual(['a taken', 'a no_share', 'b queue_full']);
  });

  test('make room in a queue of many, each with one waiter, at the cost of the flow whose last turn is the latest', async () => {
    const { seats, take, come } = create({ count: 1, waiting: 2 });
    for (const flow of ['other', 'a', 'b', 'c']) {
      take(flow);
      seats.release(flow);
    }
    take('holder');
    take('a');
    take('c');
    await come();
    take('other');
    take('b');
    expect(await come()).toEqual(['c queue_full', 'b queue_full']);
    seats.release('holder');
    expect(await come()).toEqual(['a taken']);
    seats.release('a');
    expect(await come()).toEqual(['other taken']);
  });

  test('are given out when their flow is allowed them again', async () => {
    const closed = new Set(['a']);
    const { seats, take, come } = create({ count: 2, allows: (flow) => !closed.has(flow) });
    take('a', 3);
    expect(await come()).toEqual([]);
    closed.clear();
    seats.giveOut();
    expect(await come()).toEqual(['a taken', 'a taken']);
  });

  test('tell all that wait when they are turned away', async () => {
    const { seats, take, come } = create({ count: 1 });
    take('a', 2);
    take('b', 2);
    await come();
    seats.turnAway();
    expect(await come()).toEqual(['a turned_away', 'b turned_away', 'b turned_away']);
    expect([seats.taken, seats.waiting]).toEqual([1, 0]);
  });

  test('forget who gave up waiting, and whoever gave up before', async () => {
    const { seats, take, come } = create({ count: 1 });
    const patience = new AbortController();
    take('a');
    take('b', 1, patience.signal);
    take('c');
    patience.abort();
    take('b', 1, patience.signal);
    expect(await come()).toEqual(['a taken', 'b gave_up', 'b gave_up']);
    seats.release('a');
    expect(await come()).toEqual(['c taken']);
    seats.release('c');
    expect([seats.taken, seats.waiting]).toEqual([0, 0]);
  });
});
