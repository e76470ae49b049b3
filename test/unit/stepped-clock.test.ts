import { describe, expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { steppedClock } from '../support/stepped-clock.ts';

/** Thirty times as fast as the world, in steps of 5 ms of the world at most, with two turns of the event loop between. */
function hurried() {
  const world = new FakeClock();
  const clock = steppedClock({ times: 30, stepMs: 5, turns: 2, base: world });
  return { world, clock };
}

/** What ran, and when by this clock. */
function recorder(clock: { monotonic(): number }) {
  const ran: [string, number][] = [];
  return { ran, note: (name: string) => () => void ran.push([name, clock.monotonic()]) };
}

describe('a clock that passes in steps', () => {
  test('passes so many times as fast as the world while something waits', async () => {
    const { world, clock } = hurried();
    clock.after(10_000, () => {});
    const start = clock.monotonic();
    await world.advance(100);
    expect(clock.monotonic() - start).toBe(3_000);
  });

  test('does not change the wall clock', async () => {
    const { world, clock } = hurried();
    clock.after(10_000, () => {});
    await world.advance(100);
    expect(clock.now()).toBe(world.now());
  });

  test('stands still while nothing waits', async () => {
    const { world, clock } = hurried();
    const start = clock.monotonic();
    await world.advance(1_000);
    expect(clock.monotonic()).toBe(start);
  });

  test('passes by one step, however long the process stood still', async () => {
    const { world, clock } = hurried();
    clock.after(100_000, () => {});
    const start = clock.monotonic();
    await world.leap(2_000);
    expect(clock.monotonic() - start).toBe(150);
    await world.leap(2_000);
    expect(clock.monotonic() - start).toBe(300);
  });

  test('stands still while a turn lasts', async () => {
    const world = new FakeClock();
    let spent = 0;
    const base = { ...world, now: world.now, monotonic: () => world.monotonic() + spent, after: world.after };
    const clock = steppedClock({ times: 30, stepMs: 5, turns: 2, base });
    const seen: number[] = [];
    clock.after(30, () => {
      const start = clock.monotonic();
      spent = 1_000; // this callback takes a second of a core
      seen.push(clock.monotonic() - start);
    });
    await world.advance(1);
    expect(seen).toEqual([0]);
  });

  test('a limit is not over before a thousand steps, in which what it limits could be done', async () => {
    const { world, clock } = hurried();
    let isOver = false;
    clock.after(150_000, () => {
      isOver = true;
    });
    for (let step = 0; step < 999; step++) await world.leap(10_000);
    expect(isOver).toBe(false);
    await world.leap(10_000);
    expect(isOver).toBe(true);
  });

  test('runs timers in the order of their times, and not before these have come', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    clock.after(3_000, note('late'));
    clock.after(300, note('early'));
    await world.advance(9);
    expect(ran).toEqual([]);
    await world.advance(1_000);
    expect(ran).toEqual([
      ['early', 300],
      ['late', 3_000],
    ]);
  });

  test('runs a timer that was called off not at all, though its time came in the same step', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    clock.after(60, () => cancel());
    const cancel = clock.after(90, note('called off'));
    await world.leap(1_000);
    await world.leap(1_000);
    expect(ran).toEqual([]);
  });

  test('runs each timer at its time, though all these times came while the process stood still', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    for (const ms of [20, 40, 60, 140]) clock.after(ms, note(`${ms}`));
    await world.leap(1_000);
    await world.advance(0);
    expect(ran).toEqual([
      ['20', 20],
      ['40', 40],
      ['60', 60],
      ['140', 140],
    ]);
  });

  test('a chain of waits takes as long as it says, though the process gets a turn once a second', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    const next = (left: number): void => void clock.after(100, () => (left > 1 ? next(left - 1) : note('ended')()));
    next(50);
    while (ran.length === 0) await world.leap(1_000);
    expect(ran).toEqual([['ended', 5_000]]);
  });

  test('passes though somebody waits for no time again and again', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    const again = (): void => void clock.after(0, again);
    again();
    clock.after(20, note('ran'));
    for (let step = 0; step < 100 && ran.length === 0; step++) await world.leap(1);
    expect(ran).toEqual([['ran', 20]]);
  });

  test('goes on after a timer that throws', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    clock.after(30, () => {
      throw new Error('on purpose');
    });
    clock.after(600, note('next'));
    await expect(world.advance(1)).rejects.toThrow('on purpose');
    await world.advance(100);
    expect(ran).toEqual([['next', 600]]);
  });

  test('a sleep ends when its time has come, or with its signal', async () => {
    const { world, clock } = hurried();
    const { ran, note } = recorder(clock);
    const stop = new AbortController();
    void clock.sleep(300).then(note('slept'));
    void clock.sleep(100_000, stop.signal).then(note('aborted'));
    await world.advance(10);
    expect(ran).toEqual([['slept', 300]]);
    stop.abort();
    await world.advance(1);
    expect(ran.map(([name]) => name)).toEqual(['slept', 'aborted']);
    await clock.sleep(100_000, stop.signal);
  });

  test('stands still after its last timer', async () => {
    const { world, clock } = hurried();
    clock.after(300, () => {});
    await world.advance(1_000);
    expect([clock.monotonic(), world.pendingTimers]).toEqual([300, 0]);
  });

  test('never steps twice in the turns between two steps, also when a timer sets the next', async () => {
    const { world, clock } = hurried();
    let runs = 0;
    const again = (): void => {
      runs++;
      clock.after(30, again);
    };
    again();
    for (let leap = 0; leap < 20; leap++) await world.leap(1_000); // the event loop turns ten times in each
    expect(runs).toBeGreaterThan(50);
    expect(runs).toBeLessThanOrEqual(101);
  });
});
