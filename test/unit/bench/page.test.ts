import { expect, test } from 'vitest';
import type { OpenPagesReport } from '../../../bench/load/open-pages.ts';
import type { PageLoad, PageStay } from '../../../bench/page/browser.ts';
import type { PageResults } from '../../../bench/page/page.ts';
import { printPage } from '../../../bench/page/print.ts';
import { pageSizes } from '../../../bench/page/sizes.ts';
import { longestOf } from '../../../bench/page/tasks.ts';
import { rowOf } from './rows.ts';

const frames = (perSecond: number) => ({ seconds: 10, perSecond, longestMs: 40, shareWaiting: 0.1 });
const load = (firstRowsMs: number, ms: number): PageLoad => ({
  ...{ firstRowsMs, fileBytes: 60_000, dataBytes: 50_000 },
  longest: { ms, processorMs: ms / 2 },
});
const stay: PageStay = {
  ...{ heapBefore: 5e6, heapAfter: 60.1e6, still: frames(60), scrolled: frames(54.9) },
  ...{ longestMs: 100, longest: { ms: 101, processorMs: 99 } },
};
const report = (pages: number, serverShare: number, residentBytes: number): OpenPagesReport => ({
  ...{ pages, seconds: 10, statuses: { 200: 3 * pages, 304: pages }, renewals: pages, readBytes: 1e6, watchBytes: 1e5 },
  ...{ loopDelayMs: 5, residentBytes, serverShare, readerShare: 0.1 },
});

const results: PageResults = {
  sizes: pageSizes({}),
  tables: [
    { name: 'nodes', rounds: [{ signedIn: load(1_000, 90), cold: load(1_500, 101), warm: load(700, 80) }], stay },
  ],
  open: { without: report(0, 0.1, 200e6), open: report(200, 0.5, 240e6) },
  load: [1, 2],
};

test('the targets of the page are judged one by one', () => {
  const text = printPage(results);
  expect(text).toContain('15,000 nodes');
  expect(rowOf(text, 'first rows after the sign-in')).toBe('1,000 ms | ≤ 1,000 ms | met');
  expect(rowOf(text, 'first load to first rows, cold; warm')).toBe('1,500; 700 ms');
  expect(rowOf(text, 'longest task while it loads')).toBe('101 ms | ≤ 100 ms | MISSED');
  expect(rowOf(text, 'longest task while it is open')).toBe('100 ms | ≤ 100 ms | met');
  expect(rowOf(text, 'longest task while it is scrolled')).toBe('101 ms | ≤ 100 ms | MISSED');
  expect(rowOf(text, 'frames a second while it is scrolled')).toBe('54.9 | ≥ 55 | MISSED');
  expect(rowOf(text, '… after 0.50 min and a scroll')).toBe('60.1 MB | ≤ 60.0 MB | MISSED');
});

test('the cost of an open page is the difference to the server without pages', () => {
  const text = printPage(results);
  expect(text).toContain('A page costs 2.00 ms of processor time a second, and 200 kB.');
  expect(rowOf(text, '… of them 304')).toBe('– | 25 %');
});

test('the longest task is that of a thread which runs pages', () => {
  const main = { pid: 1, tid: 1 };
  const other = { pid: 1, tid: 2 };
  const task = { ph: 'X', name: 'RunTask' };
  expect(
    longestOf([
      { ...main, ph: 'M', name: 'thread_name', args: { name: 'CrRendererMain' } },
      { ...other, ph: 'M', name: 'thread_name', args: { name: 'Compositor' } },
      { ...main, ...task, dur: 20_000, tdur: 5_000 },
      { ...main, ...task, dur: 12_000, tdur: 11_000 },
      { ...main, ph: 'X', name: 'FunctionCall', dur: 50_000, tdur: 50_000 },
      { ...other, ...task, dur: 90_000, tdur: 90_000 },
    ]),
  ).toEqual({ ms: 20, processorMs: 11 });
});
