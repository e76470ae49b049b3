import { describe, expect, test } from 'vitest';
import { PartyQueue } from '../../src/runtime/party-queue.ts';

/** Waiters of these parties, and what was said to them: their turn, or that they left. */
function start(...parties: string[]) {
  const queue = new PartyQueue();
  const told: string[] = [];
  const waiters = parties.map((party, index) => {
    const waiter = queue.wait(party);
    void waiter.turn.then((isTurn) => told.push(`${party} ${index} ${isTurn ? 'turn' : 'left'}`));
    return waiter;
  });
  return { queue, told, waiters };
}

describe('a queue of parties', () => {
  test('lets parties take turns, each in its own order', async () => {
    const { queue, told } = start('a', 'a', 'a', 'b', 'c', 'c');
    expect(queue.size).toBe(6);
    const parties = Array.from({ length: 7 }, () => queue.next());
    await Promise.resolve();
    expect(parties).toEqual(['a', 'b', 'c', 'a', 'c', 'a', undefined]);
    expect(told).toEqual(['a 0 turn', 'b 3 turn', 'c 4 turn', 'a 1 turn', 'c 5 turn', 'a 2 turn']);
    expect([queue.size, queue.has('a')]).toEqual([0, false]);
  });

  test('gives one party its turn out of order, which comes last then', () => {
    const { queue } = start('a', 'b', 'b');
    expect([queue.next('b'), queue.next('c'), queue.next(), queue.next()]).toEqual(['b', undefined, 'a', 'b']);
  });

  test('forgets a waiter that leaves, and a party that has none', async () => {
    const { queue, told, waiters } = start('a', 'a', 'b');
    expect([waiters[0]?.leave(), waiters[0]?.leave(), waiters[2]?.leave()]).toEqual([true, false, true]);
    expect([queue.size, queue.has('a'), queue.has('b')]).toEqual([1, true, false]);
    expect(queue.next()).toBe('a');
    expect(waiters[1]?.leave()).toBe(false);
    await Promise.resolve();
    expect(told).toEqual(['a 0 left', 'b 2 left', 'a 1 turn']);
  });
});
