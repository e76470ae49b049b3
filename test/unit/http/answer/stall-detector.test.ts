import { describe, expect, test } from 'vitest';
import { bytesTaken, StallDetector } from '../../../../src/http/answer/stall-detector.ts';

const TIMEOUT_MS = 600_000;
const LOOK_MS = 1_000;

/** Asks whenever it is time, about a client for which bytes wait all the time; answers when it had stalled. */
function askFor(ms: number, taken: (now: number) => number): number | undefined {
  const stall = new StallDetector(TIMEOUT_MS);
  stall.block(taken(0), 0);
  for (let now = LOOK_MS; now <= ms; now += LOOK_MS) {
    if (stall.dueIn(now) === 0 && stall.isStalled(taken(now), now)) return now;
  }
  return undefined;
}

describe('a client for which bytes wait', () => {
  test('has stalled when it takes none for ten minutes', () => {
    expect(askFor(3_600_000, () => 5)).toBe(600_000);
  });

  test('has stalled ten minutes after the last that it took, seen at most a sixth of them late', () => {
    expect(askFor(3_600_000, (now) => Math.min(now, 250_000))).toBe(900_000);
  });

  // A sixteenth of a receive buffer of 32 MiB, a third of a send buffer of 4 MiB, and the largest object.
  const LARGEST_STEP = 2 * 1024 * 1024 + Math.ceil((4 * 1024 * 1024) / 3) + 1_500_000;
  test.each([1, 65_536, 262_144, 786_432, LARGEST_STEP])(
    'R-23 never stalls at 10 kB a second, when the kernels show its reading in steps of %i bytes',
    (step) => {
      expect(askFor(6 * 3_600_000, (now) => Math.floor((now * 10) / step) * step)).toBeUndefined();
    },
  );

  test('is asked about every sixth of the ten minutes', () => {
    const stall = new StallDetector(TIMEOUT_MS);
    stall.block(0, 5_000);
    expect([stall.dueIn(5_000), stall.dueIn(104_999), stall.dueIn(105_000), stall.dueIn(700_000)]).toEqual([
      100_000, 1, 0, 0,
    ]);
    expect(stall.isStalled(1, 200_000)).toBe(false);
    expect(stall.dueIn(200_000)).toBe(100_000);
  });

  test('is asked about when its ten minutes are over, however lately it was asked about', () => {
    const stall = new StallDetector(TIMEOUT_MS);
    stall.block(0, 0);
    expect([stall.isStalled(0, 599_000), stall.dueIn(599_000)]).toEqual([false, 1_000]);
  });

  test('has ten minutes anew when it had room meanwhile', () => {
    const stall = new StallDetector(TIMEOUT_MS);
    stall.block(0, 0);
    stall.unblock();
    stall.block(0, 500_000);
    expect([stall.isStalled(0, 1_099_999), stall.isStalled(0, 1_100_000)]).toEqual([false, true]);
  });
});

test('a client for which nothing waits never stalls', () => {
  const stall = new StallDetector(TIMEOUT_MS);
  expect([stall.isBlocked, stall.dueIn(900_000), stall.isStalled(0, 900_000)]).toEqual([false, undefined, false]);
  stall.block(0, 0);
  stall.unblock();
  expect([stall.isBlocked, stall.dueIn(900_000), stall.isStalled(0, 900_000)]).toEqual([false, undefined, false]);
});

test('bytes are taken when they have left the socket for the kernel', () => {
  expect(bytesTaken({ bytesWritten: 1_000, writableLength: 300 })).toBe(700);
});
