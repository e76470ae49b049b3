import { describe, expect, test } from 'vitest';
import { LEAST_BYTES_A_MINUTE, ReaderPace } from '../../../src/http/watch/reader-pace.ts';

const STALL_MS = 30_000;

/** Looks every five seconds at a reader that takes so many bytes in each; answers when it was too slow. */
function lookFor(ms: number, takes: (now: number) => number, pace = new ReaderPace(STALL_MS)): number | undefined {
  pace.block(0);
  let taken = 0;
  for (let now = 5_000; now <= ms; now += 5_000) {
    taken += takes(now);
    expect(pace.isDue(now)).toBe(true);
    if (!pace.keepsUp(taken, now)) return now;
  }
  return undefined;
}

describe('the pace of a reader', () => {
  test('is too slow when nothing is taken for 30 s', () => {
    expect(lookFor(600_000, () => 0)).toBe(30_000);
  });

  test('is fast enough when something is, though its socket stays full for long', () => {
    expect(lookFor(3_600_000, () => 50_000)).toBeUndefined();
  });

  test('is fast enough when that comes in steps with less than 30 s between them', () => {
    expect(lookFor(600_000, (now) => (now % 25_000 === 0 ? 65_536 : 0))).toBeUndefined();
  });

  test('is too slow after a minute with less than the least, however steady', () => {
    const least = Math.ceil(LEAST_BYTES_A_MINUTE / 12);
    expect(lookFor(600_000, () => least)).toBeUndefined();
    expect(lookFor(600_000, () => least - 1)).toBe(65_000); // a minute from the first look
  });

  test('is judged by a minute that goes on when its socket had room and is full again', () => {
    const pace = new ReaderPace(STALL_MS);
    let judged = true;
    for (let now = 0; now <= 65_000; now += 5_000) {
      pace.block(now);
      judged &&= pace.keepsUp(now / 5, now + 4_000);
      pace.unblock();
    }
    expect(judged).toBe(false);
  });

  test('is not judged while nothing waits, nor by what was before', () => {
    const pace = new ReaderPace(STALL_MS);
    expect(lookFor(20_000, () => 1, pace)).toBeUndefined();
    pace.unblock();
    pace.rest();
    expect([pace.isBlocked, pace.isDue(600_000), pace.keepsUp(4, 600_000)]).toEqual([false, false, true]);
    pace.block(600_000);
    expect(pace.keepsUp(4, 605_000)).toBe(true);
    expect(pace.keepsUp(4, 599_000)).toBe(true); // queues that were read before
    expect(pace.keepsUp(5, 629_000)).toBe(true);
    expect(pace.keepsUp(5, 659_000)).toBe(false);
  });

  test('is looked at no more often than six times in the 30 s', () => {
    const pace = new ReaderPace(STALL_MS);
    pace.block(0);
    expect([pace.isDue(4_999), pace.isDue(5_000)]).toEqual([false, true]);
    pace.keepsUp(0, 5_000);
    expect([pace.isDue(9_999), pace.isDue(10_000)]).toEqual([false, true]);
  });

  test('is looked at when its 30 s are over, however lately it was looked at', () => {
    const pace = new ReaderPace(STALL_MS);
    pace.block(20_000);
    expect(pace.keepsUp(0, 20_000)).toBe(true);
    expect([pace.isDue(24_999), pace.isDue(25_000)]).toEqual([false, true]);
    expect(pace.keepsUp(0, 49_000)).toBe(true);
    expect([pace.isDue(49_999), pace.isDue(50_000)]).toEqual([false, true]);
    expect(pace.keepsUp(0, 50_000)).toBe(false);
  });
});
