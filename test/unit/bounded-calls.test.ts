import { describe, expect, test } from 'vitest';
import { BoundedCalls, CallTimedOut, TooManyCalls } from '../../src/bounded-calls.ts';
import { FakeClock } from '../support/fake-clock.ts';

describe('bounded calls', () => {
  const create = () => {
    const clock = new FakeClock();
    return { clock, calls: new BoundedCalls({ maxInFlight: 1, maxWaiting: 1, timeoutMs: 1_000 }, clock) };
  };

  test('run one after the other, and leave no timer', async () => {
    const { clock, calls } = create();
    const order: string[] = [];
    const call = async (name: string): Promise<void> => {
      order.push(`${name} begins`);
      await clock.sleep(100);
      order.push(`${name} ends`);
    };
    const both = Promise.all([calls.run(() => call('a')), calls.run(() => call('b'))]);
    await clock.advance(200);
    await both;
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('refuse at once what would wait behind as many as may', async () => {
    const { clock, calls } = create();
    const first = calls.run(() => clock.sleep(100));
    const second = calls.run(() => clock.sleep(100));
    await expect(calls.run(() => clock.sleep(100))).rejects.toThrow(TooManyCalls);
    await clock.advance(200);
    await Promise.all([first, second]);
    await clock.advance(0);
    expect(await calls.run(async () => 'free again')).toBe('free again');
  });

  test('time out with the wait included; the slot of a call that hangs stays taken until it ends', async () => {
    const { clock, calls } = create();
    const hanging = Promise.withResolvers<void>();
    const first = calls.run(() => hanging.promise);
    const second = calls.run(async () => 'never begun');
    const outcomes = Promise.allSettled([first, second]);
    await clock.advance(1_000);
    expect((await outcomes).map((one) => one.status === 'rejected' && one.reason)).toEqual([
      expect.any(CallTimedOut),
      expect.any(CallTimedOut),
    ]);
    const third = calls.run(async () => 'begun');
    hanging.resolve();
    expect(await third).toBe('begun');
  });
});
