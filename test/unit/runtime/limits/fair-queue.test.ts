import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../../../src/runtime/limits/fair-queue.ts';

/** Waiters of these flows, and whose turn came: `a 0` is the first of all. */
function start(...flows: string[]) {
  const queue = new FairQueue();
  const began: string[] = [];
  const leave = flows.map((flow, index) => queue.wait(flow, () => began.push(`${flow} ${index}`)));
  return { queue, began, leave };
}

describe('a queue of flows', () => {
  test('lets flows take turns, each in its own order', () => {
    const { queue, began } = start('a', 'a', 'a', 'b', 'c', 'c');
    expect(queue.size).toBe(6);
    while (queue.next());
    expect(began).toEqual(['a 0', 'b 3', 'c 4', 'a 1', 'c 5', 'a 2']);
    expect([queue.size, queue.has('a')]).toEqual([0, false]);
  });

  test('gives one flow its turn out of order, which comes last then', () => {
    const { queue, began } = start('a', 'b', 'b');
    expect([queue.next('b'), queue.next('c'), queue.next(), queue.next()]).toEqual([true, false, true, true]);
    expect(began).toEqual(['b 1', 'a 0', 'b 2']);
  });

  test('forgets a waiter that leaves, and a flow that has none', () => {
    const { queue, began, leave } = start('a', 'a', 'b');
    expect([leave[0]?.(), leave[0]?.(), leave[2]?.()]).toEqual([true, false, true]);
    expect([queue.size, queue.has('a'), queue.has('b')]).toEqual([1, true, false]);
    expect(queue.next()).toBe(true);
    expect(leave[1]?.()).toBe(false);
    expect(began).toEqual(['a 1']);
  });
});
