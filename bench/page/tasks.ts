import { type TraceEvent, threadOf, threadsOfPages } from './trace.ts';

/** The longest task of the page's main thread. */
export interface LongestTask {
  readonly ms: number;
  /** The processor time of the task that took the most of it: on a busy machine a task also waits for a processor. */
  readonly processorMs: number;
}

/** The longest tasks of a time, by whose work they are. */
export interface LongestTasks {
  /** The tasks in which Chromium opens a document: it makes the document and its JavaScript context, for `about:blank` as for any other. */
  readonly opening: LongestTask;
  /** All other tasks. */
  readonly own: LongestTask;
}

/** The categories of a trace from which `longestOf` reads. */
export const TASKS = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];

const RUN_TASK = /RunTask$/;
/** Inside the task that opens a document. */
const OPENS = 'CommitLoad';

/** Counts only the threads that run pages. */
export function longestOf(events: readonly TraceEvent[]): LongestTasks {
  const mains = threadsOfPages(events);
  const tasks = events.filter((event) => event.ph === 'X' && RUN_TASK.test(event.name) && mains.has(threadOf(event)));
  const openings = events.filter(({ name }) => name === OPENS);
  const opens = (task: TraceEvent): boolean => openings.some((opening) => isWithin(opening, task));
  return {
    opening: longest(tasks.filter(opens)),
    own: longest(tasks.filter((task) => !opens(task))),
  };
}

const isWithin = (event: TraceEvent, task: TraceEvent): boolean =>
  threadOf(event) === threadOf(task) && event.ts >= task.ts && event.ts <= task.ts + (task.dur ?? 0);

function longest(tasks: readonly TraceEvent[]): LongestTask {
  const most = (of: 'dur' | 'tdur'): number =>
    tasks.reduce((most, { [of]: micros = 0 }) => Math.max(most, micros), 0) / 1_000;
  return { ms: most('dur'), processorMs: most('tdur') };
}
