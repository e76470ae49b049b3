import { expect, test } from 'vitest';
import { processorSeconds, processorSecondsOf, residentBytes } from '../../../../bench/load/usage.ts';

test('adds user and system time, whatever the name of the program', () => {
  const stat = '4242 (a) b (c) S 1 4242 4242 0 -1 4194304 999 0 0 0 1234 66 7 8 20 0 1 0 5000 0 0';
  expect(processorSeconds(stat)).toBe(13);
});

test('does not know the time of no process', () => {
  expect([processorSecondsOf(undefined), processorSecondsOf(2 ** 30)]).toEqual([undefined, undefined]);
});

test('reads resident memory and its peak in bytes', () => {
  const status = 'Name:\tnode\nVmPeak:\t  900 kB\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\nThreads:\t11\n';
  expect(residentBytes(status)).toEqual({ now: 200 * 1024, peak: 300 * 1024 });
});

test('does not know the memory of a process that is gone', () => {
  expect(residentBytes('')).toBeUndefined();
});
