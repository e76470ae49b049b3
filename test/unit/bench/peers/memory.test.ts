import { expect, test } from 'vitest';
import { residentBytes, residentMetric } from '../../../../bench/peers/memory.ts';

test('reads resident memory and its peak in bytes', () => {
  const status = 'Name:\tnode\nVmPeak:\t  900 kB\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\nThreads:\t11\n';
  expect(residentBytes(status)).toEqual({ now: 200 * 1024, peak: 300 * 1024 });
});

test('does not know the memory of a process that is gone', () => {
  expect(residentBytes('')).toBeUndefined();
});

test.each(['process_resident_memory_bytes 5e7', 'gatehouse_process_resident_memory_bytes{app="a"} 50000000'])(
  'reads the metric %j',
  (line) => {
    expect(residentMetric(`# TYPE x gauge\n${line}\nother 1\n`)).toBe(50_000_000);
  },
);

test('does not make up a metric', () => {
  expect(residentMetric('other 1\n')).toBeUndefined();
});
