import { expect, test } from 'vitest';
import type { OpenPagesReport } from '../../../bench/load/open-pages.ts';
import type { PageLoad, PageStay } from '../../../bench/page/browser.ts';
import type { PageResults } from '../../../bench/page/page.ts';
import { printPage } from '../../../bench/page/print.ts';
import { pageSizes } from '../../../bench/page/sizes.ts';
import { longestOf } from '../../../bench/page/tasks.ts';
import { wheelFramesOf } from '../../../bench/page/wheel.ts';
import { rowOf } from './rows.ts';

const frames = (perSecond: number) => ({ seconds: 10, perSecond, longestMs: 40, shareWaiting: 0.1 });
const load = (firstRowsMs: number, ms: number): PageLoad => ({
  ...{ firstRowsMs, fileBytes: 60_000, dataBytes: 50_000 },
  longest: { own: { ms, processorMs: ms / 2 }, opening: { ms: 110, processorMs: 50 } },
});
const stay: PageStay = {
  ...{ heapBefore: 5e6, heapAfter: 60.1e6, still: frames(60), scrolled: frames(54.9) },
  wheel: { perSecond: 54.9, longestMs: 30, mainPerSecond: 35, shareMissing: 0.03, mostMissing: 3 },
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
  expect(rowOf(text, 'longest task of all loads')).toBe('101 ms | ≤ 100 ms | MISSED');
  expect(rowOf(text, 'longest task while it is open')).toBe('100 ms | ≤ 100 ms | met');
  expect(rowOf(text, 'longest task while it is scrolled')).toBe('101 ms | ≤ 100 ms | MISSED');
  expect(rowOf(text, '… in which Chromium opens the document')).toBe('110 ms');
  expect(rowOf(text, 'frames a second while a wheel turns')).toBe('54.9 | ≥ 55 | MISSED');
  expect(rowOf(text, '… before which a row was missing')).toBe('3 % | ≤ 2 % | MISSED');
  expect(rowOf(text, '… most rows at once')).toBe('3');
  expect(rowOf(text, '… after 0.50 min and a scroll')).toBe('60.1 MB | ≤ 60.0 MB | MISSED');
});

test('the cost of an open page is the difference to the server without pages', () => {
  const text = printPage(results);
  expect(text).toContain('A page costs 2.00 ms of processor time a second, and 200 kB.');
  expect(rowOf(text, '… of them 304')).toBe('– | 25 %');
});

test('the longest task is that of a thread which runs pages, and those that open a document are apart', () => {
  const main = { pid: 1, tid: 1, ts: 0 };
  const other = { pid: 1, tid: 2, ts: 0 };
  const task = { ph: 'X', name: 'RunTask' };
  expect(
    longestOf([
      { ...main, ph: 'M', name: 'thread_name', args: { name: 'CrRendererMain' } },
      { ...other, ph: 'M', name: 'thread_name', args: { name: 'Compositor' } },
      { ...main, ...task, dur: 20_000, tdur: 5_000 },
      { ...main, ...task, dur: 12_000, tdur: 11_000 },
      { ...main, ph: 'X', name: 'FunctionCall', dur: 50_000, tdur: 50_000 },
      { ...other, ...task, dur: 90_000, tdur: 90_000 },
      { ...main, ...task, ts: 100_000, dur: 80_000, tdur: 30_000 },
      { ...main, ph: 'X', name: 'CommitLoad', ts: 120_000, dur: 10_000 },
      { ...other, ph: 'X', name: 'CommitLoad', ts: 10_000 },
    ]),
  ).toEqual({ own: { ms: 20, processorMs: 11 }, opening: { ms: 80, processorMs: 30 } });
});

test('the frames of a wheel are those that were drawn, in the order of their times', () => {
  const frame = { ph: 'I', pid: 1, tid: 3 };
  const at = (name: string, ...times: readonly number[]) => times.map((ms) => ({ ...frame, name, ts: ms * 1_000 }));
  expect(
    wheelFramesOf(
      [...at('DrawFrame', 32, 0, 16, 62), ...at('BeginMainThreadFrame', 0, 50), ...at('DroppedFrame', 20)],
      {
        ...{ looks: 50, missing: 1, mostMissing: 2, movedPx: 100 },
      },
    ),
  ).toEqual({ perSecond: 3 / 0.062, longestMs: 30, mainPerSecond: 20, shareMissing: 0.02, mostMissing: 2 });
});
