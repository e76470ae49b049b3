import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createPasswordMetrics } from '../../../src/users/metrics.ts';
import { PasswordGate } from '../../../src/users/password-sign-in.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function newGate() {
  const clock = new FakeClock();
  const registry = new Registry();
  const gate = new PasswordGate({ concurrency: 2, queue: 16, maxWaitMs: 2000 }, clock, createPasswordMetrics(registry));
  /** Names of those whose turn came, in order; `name!` for those turned away. */
  const order: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = (name: string, source = name, signal = new AbortController().signal): void => {
    void gate.enter(source, signal).then((leave) => {
      order.push(leave ? name : `${name}!`);
      if (leave) leaves.set(name, leave);
    });
  };
  const leave = async (name: string): Promise<void> => {
    leaves.get(name)?.();
    await clock.advance(0);
  };
  const value = async (name: string): Promise<number | undefined> =>
    (await registry.getSingleMetric(`gatehouse_${name}`)?.get())?.values[0]?.value;
  return { clock, gate, order, enter, leave, value };
}

describe('the password gate', () => {
  test('lets two in at once and the next when one leaves', async () => {
    const { clock, order, enter, leave, value } = newGate();
    for (const name of ['a', 'b', 'c']) enter(name);
    await clock.advance(0);
    expect(order).toEqual(['a', 'b']);
    expect([await value('password_hashes_in_flight'), await value('password_hash_queue_length')]).toEqual([2, 1]);
    await leave('a');
    expect(order).toEqual(['a', 'b', 'c']);
    await leave('b');
    await leave('c');
    expect([await value('password_hashes_in_flight'), await value('password_hash_queue_length')]).toEqual([0, 0]);
  });

  test('has room for 16 in the queue and turns the next away at once', async () => {
    const { clock, order, enter, value } = newGate();
    for (let index = 0; index < 19; index++) enter(String(index), 'one');
    await clock.advance(0);
    expect(order).toEqual(['0', '1', '18!']);
    expect(await value('password_hash_rejections_total')).toBe(1);
  });

  test('gives a newcomer the last place of the source that holds the most, as long as it holds more', async () => {
    const { clock, order, enter, leave, value } = newGate();
    for (let index = 0; index < 18; index++) enter(`f${index}`, 'flood');
    for (let index = 0; index < 9; index++) enter(`o${index}`, 'owner');
    await clock.advance(0);
    expect(order).toEqual(
      ['f0', 'f1', 'o8!', ...[17, 16, 15, 14, 13, 12, 11, 10].map((index) => `f${index}!`)].sort(
        (a, b) => order.indexOf(a) - order.indexOf(b),
      ),
    );
    expect([await value('password_hash_queue_length'), await value('password_hash_rejections_total')]).toEqual([16, 9]);
    for (const name of ['f0', 'f1', 'f2', 'o0', 'f3']) await leave(name);
    expect(order.slice(-5)).toEqual(['f2', 'o0', 'f3', 'o1', 'f4']);
  });

  test('moves no place to and fro between two sources that hold about as many', async () => {
    const { clock, order, enter } = newGate();
    enter('a', 'another');
    for (let index = 0; index < 17; index++) enter(`f${index}`, 'flood');
    for (let index = 0; index < 8; index++) enter(`o${index}`, 'owner');
    enter('b', 'another');
    await clock.advance(0);
    expect(
      order
        .filter((name) => name.endsWith('!'))
        .map((name) => name.slice(0, 1))
        .sort()
        .join(''),
    ).toBe('fffffffff');
    enter('f18', 'flood');
    enter('o9', 'owner');
    await clock.advance(0);
    expect(order.slice(-2)).toEqual(['f18!', 'o9!']);
  });

  test('turns away who has waited for two seconds', async () => {
    const { clock, order, enter, leave } = newGate();
    for (const name of ['a', 'b', 'c']) enter(name);
    await clock.advance(2000);
    expect(order).toEqual(['a', 'b', 'c!']);
    await leave('a');
    enter('d');
    await clock.advance(0);
    expect([order, clock.pendingTimers]).toEqual([['a', 'b', 'c!', 'd'], 0]);
  });

  test('serves sources in turn, so that a flood waits behind itself', async () => {
    const { clock, order, enter, leave } = newGate();
    for (const name of ['f1', 'f2', 'f3', 'f4', 'f5']) enter(name, 'flood');
    for (const name of ['a', 'b']) enter(name);
    await clock.advance(0);
    for (const name of ['f1', 'f2', 'f3', 'a', 'b']) await leave(name);
    expect(order).toEqual(['f1', 'f2', 'f3', 'a', 'b', 'f4', 'f5']);
  });

  test('drops who hung up while waiting, and lets nobody in who hung up before', async () => {
    const { clock, order, enter, leave, value } = newGate();
    const client = new AbortController();
    for (const name of ['a', 'b']) enter(name);
    enter('c', 'c', client.signal);
    enter('d');
    client.abort();
    enter('e', 'e', client.signal);
    await clock.advance(0);
    await leave('a');
    expect(order).toEqual(['a', 'b', 'e!', 'c!', 'd'].sort((x, y) => order.indexOf(x) - order.indexOf(y)));
    expect(order.at(-1)).toBe('d');
    expect(await value('password_hash_rejections_total')).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
