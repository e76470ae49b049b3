import { describe, expect, test } from 'vitest';
import { BoundedCalls, CallsPaused, CallTimedOut, TooManyCalls } from '../../../../src/runtime/limits/bounded-calls.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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
    const both = Promise.all([calls.run('a', () => call('a')), calls.run('a', () => call('b'))]);
    await clock.advance(200);
    await both;
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('refuse at once what would wait behind as many as may', async () => {
    const { clock, calls } = create();
    const first = calls.run('a', () => clock.sleep(100));
    const second = calls.run('a', () => clock.sleep(100));
    await expect(calls.run('a', () => clock.sleep(100))).rejects.toThrow(TooManyCalls);
    await clock.advance(200);
    await Promise.all([first, second]);
    await clock.advance(0);
    expect(await calls.run('a', async () => 'free again')).toBe('free again');
  });

  test('time out; the seat of a call that hangs stays taken until it ends', async () => {
    const { clock, calls } = create();
    const hanging = Promise.withResolvers<void>();
    const first = calls.run('a', () => hanging.promise);
    const outcome = first.catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await outcome).toBeInstanceOf(CallTimedOut);
    const second = calls.run('a', async () => 'begun');
    await clock.advance(100);
    expect(calls.load).toEqual({ inFlight: 1, waiting: 1 });
    hanging.resolve();
    expect(await second).toBe('begun');
    await clock.advance(0);
    expect(calls.load).toEqual({ inFlight: 0, waiting: 0 });
  });

  test('that find no turn in time say that seats were wanting, later than a call that hangs', async () => {
    const { clock, calls } = create();
    const ends: unknown[] = [];
    const note = (error: unknown): void => void ends.push((error as object).constructor);
    calls.run('a', () => new Promise(() => undefined)).catch(note);
    calls.run('b', async () => 'never begun').catch(note);
    await clock.advance(1_000);
    expect(ends).toEqual([CallTimedOut]);
    await clock.advance(500);
    expect(ends).toEqual([CallTimedOut, TooManyCalls]);
  });

  test('have their whole time once they are begun, however long they waited', async () => {
    const { clock, calls } = create();
    const first = calls.run('a', () => clock.sleep(900));
    const second = calls.run('a', () => clock.sleep(900).then(() => 'answered'));
    await clock.advance(1_800);
    await first;
    expect(await second).toBe('answered');
  });

  test('that wait are paused when all are turned away', async () => {
    const { clock, calls } = create();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const first = calls.run('a', () => ended);
    const paused = calls.run('a', async () => 'never').catch((error: unknown) => error);
    await clock.advance(0);
    calls.turnAway();
    expect(await paused).toBeInstanceOf(CallsPaused);
    end();
    await first;
  });
});
