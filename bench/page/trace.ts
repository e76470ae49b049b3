import type { Page } from 'puppeteer-core';

/** An event of Chromium's trace. Times are in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** Processor time. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Traces these categories, and no others, while the work goes on. */
export async function traced<Result>(
  page: Page,
  categories: readonly string[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly events: readonly TraceEvent[] }> {
  await page.tracing.start({ categories: ['-*', ...categories] });
  const result = await work();
  const bytes = await page.tracing.stop();
  const { traceEvents } = JSON.parse(Buffer.from(bytes ?? []).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  return { result, events: traceEvents };
}

export const threadOf = ({ pid, tid }: Pick<TraceEvent, 'pid' | 'tid'>): string => `${pid}/${tid}`;

/** The main threads of the processes that run pages. */
export const threadsOfPages = (events: readonly TraceEvent[]): ReadonlySet<string> =>
  new Set(events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf));
