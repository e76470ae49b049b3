import type { Page } from 'puppeteer-core';

/** The longest task of the page's main thread. */
export interface LongestTask {
  readonly ms: number;
  /** The processor time of the task that took the most of it: on a busy machine a task also waits for a processor. */
  readonly processorMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds, as all times of a trace. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const RUN_TASK = /RunTask$/;

/** Follows the tasks while the work goes on. */
export async function tracing<Result>(
  page: Page,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly longest: LongestTask }> {
  await page.tracing.start({ categories: ['-*', 'toplevel', 'disabled-by-default-devtools.timeline'] });
  const result = await work();
  const bytes = await page.tracing.stop();
  const { traceEvents } = JSON.parse(Buffer.from(bytes ?? []).toString()) as { traceEvents: readonly TraceEvent[] };
  return { result, longest: longestOf(traceEvents) };
}

/** Counts only the threads that run pages. */
export function longestOf(events: readonly TraceEvent[]): LongestTask {
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = events.filter((event) => event.ph === 'X' && RUN_TASK.test(event.name) && mains.has(threadOf(event)));
  const most = (of: 'dur' | 'tdur'): number =>
    tasks.reduce((longest, { [of]: micros = 0 }) => Math.max(longest, micros), 0) / 1_000;
  return { ms: most('dur'), processorMs: most('tdur') };
}
