import { expect, test } from 'vitest';
import { summaryOf, type Turn } from '../../../bench/peers/turns.ts';

const old = { kind: 'old', startTime: 100, duration: 60 };
/** Most of it is the collection, for which the thread itself did little. */
const collected: Turn = { startTime: 99, duration: 64, cpuMs: 40 };
const busy: Turn = { startTime: 200, duration: 71, cpuMs: 70 };

test('tells collections of the turn that they lie in: the longest one may be in another', () => {
  const both = summaryOf([collected, busy], [old], 1);
  expect(both).toEqual({
    longestMs: 70,
    longestCpuMs: 70,
    longestCpuGcMs: 0,
    longestOwnMs: 70,
    longestGcMs: 60,
    gcKind: 'old',
  });
  expect(summaryOf([collected], [old], 1)).toMatchObject({ longestCpuMs: 40, longestCpuGcMs: 60, longestOwnMs: 0 });
});

test('takes off what of a collection lies in the turn, of each collection in it', () => {
  const young = { kind: 'young', startTime: 210, duration: 5 };
  const late = { kind: 'old', startTime: 261, duration: 30 };
  expect(summaryOf([busy], [young, late], 1)).toMatchObject({ longestCpuGcMs: 15, longestOwnMs: 55, longestGcMs: 30 });
});

test('is nothing where no turn was long', () => {
  expect(summaryOf([], [], 1)).toMatchObject({ longestMs: 0, longestCpuMs: 0, longestOwnMs: 0, longestGcMs: 0 });
});
