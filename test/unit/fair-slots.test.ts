import { describe, expect, test } from 'vitest';
import { FairSlots, type SlotLimits, type SlotOutcome } from '../../src/runtime/calls/fair-slots.ts';

const never = new AbortController().signal;

/** Asks for slots by party; `order` has what came of each, in the order in which it came. */
function create(limits: SlotLimits) {
  const slots = new FairSlots(limits);
  const order: string[] = [];
  const take = (party: string, times = 1, signal = never): void => {
    for (let time = 0; time < times; time++)
      void slots.take(party, signal).then((outcome: SlotOutcome) => order.push(`${party} ${outcome}`));
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const come = async (): Promise<string[]> => {
    await settled();
    return order.splice(0);
  };
  return { slots, take, come };
}

describe('fair slots', () => {
  test('give one party no more than its share, though others are free', async () => {
    const { slots, take, come } = create({ count: 4, allows: (_, held) => held < 2 });
    take('flood', 5);
    expect(await come()).toEqual(['flood taken', 'flood taken']);
    expect([slots.taken, slots.waiting]).toEqual([2, 3]);
    take('other', 2);
    expect(await come()).toEqual(['other taken', 'other taken']);
  });

  test('let parties take turns when a slot is free', async () => {
    const { slots, take, come } = create({ count: 1 });
    take('a', 3);
    take('b', 2);
    take('c', 1);
    const turns: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [outcome = ''] = await come();
      const [party = ''] = outcome.split(' ');
      turns.push(party);
      slots.release(party);
    }
    expect(turns).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
  });

  test('pass over a party that has its share, until it gives a slot back', async () => {
    const { slots, take, come } = create({ count: 3, allows: (_, held) => held < 2 });
    take('a', 3);
    take('b', 1);
    expect(await come()).toEqual(['a taken', 'a taken', 'b taken']);
    take('b', 1);
    slots.release('b');
    expect(await come()).toEqual(['b taken']);
    slots.release('a');
    expect(await come()).toEqual(['a taken']);
  });

  test('refuse one place more than a party may have in the queue', async () => {
    const { take, come } = create({ count: 1, waiting: 10, waitingOfOne: 2 });
    take('a', 4);
    expect(await come()).toEqual(['a taken', 'a no_share']);
    take('b', 2);
    expect(await come()).toEqual([]);
  });

  test('make room in a full queue at the cost of the party that has the most places', async () => {
    const { take, come } = create({ count: 1, waiting: 3 });
    take('a', 4);
    take('b', 2);
    expect(await come()).toEqual(['a taken', 'a no_share', 'b no_place']);
  });

  test('make room in a queue of many, each with one place, at the cost of the party whose last turn is the latest', async () => {
    const { slots, take, come } = create({ count: 1, waiting: 2 });
    for (const party of ['other', 'a', 'b', 'c']) {
      take(party);
      slots.release(party);
    }
    take('holder');
    take('a');
    take('c');
    await come();
    take('other');
    take('b');
    expect(await come()).toEqual(['c no_place', 'b no_place']);
    slots.release('holder');
    expect(await come()).toEqual(['a taken']);
    slots.release('a');
    expect(await come()).toEqual(['other taken']);
  });

  test('are given out when their party is allowed them again', async () => {
    const closed = new Set(['a']);
    const { slots, take, come } = create({ count: 2, allows: (party) => !closed.has(party) });
    take('a', 3);
    expect(await come()).toEqual([]);
    closed.clear();
    slots.giveOut();
    expect(await come()).toEqual(['a taken', 'a taken']);
  });

  test('tell all that wait when they are turned away', async () => {
    const { slots, take, come } = create({ count: 1 });
    take('a', 2);
    take('b', 2);
    await come();
    slots.turnAway();
    expect(await come()).toEqual(['a turned_away', 'b turned_away', 'b turned_away']);
    expect([slots.taken, slots.waiting]).toEqual([1, 0]);
  });

  test('forget who gave up waiting, and whoever gave up before', async () => {
    const { slots, take, come } = create({ count: 1 });
    const patience = new AbortController();
    take('a');
    take('b', 1, patience.signal);
    take('c');
    patience.abort();
    take('b', 1, patience.signal);
    expect(await come()).toEqual(['a taken', 'b gave_up', 'b gave_up']);
    slots.release('a');
    expect(await come()).toEqual(['c taken']);
    slots.release('c');
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
  });
});
