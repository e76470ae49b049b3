/** Texts that are run in the page: what it measures of itself. */

/** What was seen so far. Times are in milliseconds since the navigation began. */
export interface Seen {
  /** When the first row with text was drawn; absent as long as there is none. */
  readonly firstRows?: number;
  /** When the last redirect was answered; 0 without any. */
  readonly redirectEnd: number;
  readonly now: number;
  readonly longTasks: readonly { readonly at: number; readonly ms: number }[];
}

/** Before anything else of a document: notes long tasks, and when the first row with text is drawn. */
export const WATCH = `(() => {
  const seen = { longTasks: [] };
  globalThis.benchSeen = seen;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.longTasks.push({ at: startTime, ms: duration });
  }).observe({ type: 'longtask', buffered: true });
  const observer = new MutationObserver(() => {
    if (!document.querySelector('[role=row][data-place] a')?.textContent) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { seen.firstRows = performance.now(); }));
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
})()`;

/** Evaluates to a `Seen`. */
export const SEEN = `(() => {
  const [{ redirectEnd }] = performance.getEntriesByType('navigation');
  return { ...benchSeen, redirectEnd, now: performance.now() };
})()`;

export const HAS_FIRST_ROWS = 'globalThis.benchSeen?.firstRows !== undefined';

/** The frames of some seconds. */
export interface Frames {
  readonly seconds: number;
  readonly perSecond: number;
  readonly longestMs: number;
  /** The share of frames with a row on or near the screen that had not come yet. */
  readonly shareWaiting: number;
}

/** Evaluates to the `Frames` of so many milliseconds. With `pxPerSecond` the table is scrolled at this pace, and by `jumpPx` at each jump. */
export const framesOf = (how: {
  readonly ms: number;
  readonly pxPerSecond: number;
  readonly jumpPx: number;
  readonly jumpEveryMs: number;
}): string => `new Promise((resolve) => {
  const { ms, pxPerSecond, jumpPx, jumpEveryMs } = ${JSON.stringify(how)};
  const table = document.querySelector('.table');
  // Nothing is read of the layout during a frame: that would make the browser lay out twice.
  const end = table.scrollHeight - table.clientHeight;
  const state = { at: table.scrollTop, first: undefined, last: undefined, frames: 0, longestMs: 0, waiting: 0, jumps: 1 };
  const frame = (now) => {
    state.first ??= now;
    if (state.last !== undefined) {
      const passed = now - state.last;
      state.frames++;
      state.longestMs = Math.max(state.longestMs, passed);
      if (table.querySelector('.coming')) state.waiting++;
      state.at += (pxPerSecond * passed) / 1000;
      if (jumpPx > 0 && now - state.first > state.jumps * jumpEveryMs) {
        state.jumps++;
        state.at += jumpPx;
      }
      if (pxPerSecond > 0) table.scrollTop = state.at % end;
    }
    state.last = now;
    if (now - state.first < ms) return void requestAnimationFrame(frame);
    const seconds = (now - state.first) / 1000;
    resolve({ seconds, perSecond: state.frames / seconds, longestMs: state.longestMs, shareWaiting: state.waiting / state.frames });
  };
  requestAnimationFrame(frame);
})`;
