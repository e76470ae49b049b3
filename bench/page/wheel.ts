import type { CDPSession, Page } from 'puppeteer-core';
import { type TraceEvent, traced } from './trace.ts';

/**
 * What a reader sees who turns the wheel of a mouse over the table. The browser moves what is drawn in a thread of its own; the page's main thread
 * has to bring the rows in time.
 */
export interface WheelFrames {
  /** The frames that the browser drew. */
  readonly perSecond: number;
  /** The longest time without a new one. */
  readonly longestMs: number;
  /** The frames of the main thread a second: how often rows could come. */
  readonly mainPerSecond: number;
  /** The share of these before which a place on the screen had no row, or one whose content had not come. */
  readonly shareMissing: number;
  /** The most such places at once. */
  readonly mostMissing: number;
}

interface Turn {
  readonly seconds: number;
  readonly pxPerSecond: number;
}

/** Seen in the page. */
interface Moves {
  readonly looks: number;
  readonly missing: number;
  readonly mostMissing: number;
  readonly movedPx: number;
}

/** Draws are few and small events, so that the trace costs the page nothing that can be measured. */
const FRAMES = ['disabled-by-default-devtools.timeline.frame'];

/**
 * Looks at each scroll event before the page does: the browser has shown the new place already, with the rows that were in the document.
 * Only rows that are on the screen as a whole count.
 */
const BEGIN = `(() => {
  const table = document.querySelector('.table');
  const rowPx = document.querySelector('[data-place]').offsetHeight;
  const began = table.scrollTop;
  const seen = { looks: 0, missing: 0, mostMissing: 0 };
  const look = () => {
    const there = new Set();
    for (const row of table.querySelectorAll('[data-place]'))
      if (!row.firstElementChild.classList.contains('coming')) there.add(Number(row.dataset.place));
    const first = Math.ceil(table.scrollTop / rowPx);
    const end = Math.floor((table.scrollTop + table.clientHeight - rowPx) / rowPx); // the head covers one
    let missing = 0;
    for (let place = first; place < end; place++) if (!there.has(place)) missing++;
    seen.looks++;
    if (missing > 0) seen.missing++;
    seen.mostMissing = Math.max(seen.mostMissing, missing);
  };
  document.addEventListener('scroll', look, { capture: true });
  globalThis.benchMoves = () => {
    document.removeEventListener('scroll', look, { capture: true });
    return { ...seen, movedPx: table.scrollTop - began };
  };
})()`;
const END = 'benchMoves()';

/** In the middle of the table. */
const PLACE = { x: 640, y: 500 };
/** The part of the way that the table must have gone. */
const LEAST_MOVED = 0.95;

/** Turns a wheel over the table that the tab shows. */
export async function turnWheel(page: Page, cdp: CDPSession, { seconds, pxPerSecond }: Turn): Promise<WheelFrames> {
  const wayPx = seconds * pxPerSecond;
  const { result, events } = await traced(page, FRAMES, async () => {
    await page.evaluate(BEGIN);
    await cdp.send('Input.synthesizeScrollGesture', {
      ...PLACE,
      ...{ yDistance: -wayPx, speed: pxPerSecond, gestureSourceType: 'mouse', preventFling: true },
    });
    return (await page.evaluate(END)) as Moves;
  });
  if (result.movedPx < LEAST_MOVED * wayPx)
    throw new Error(`the wheel moved the table ${result.movedPx} of ${wayPx} px`);
  return wheelFramesOf(events, result);
}

export function wheelFramesOf(events: readonly TraceEvent[], { looks, missing, mostMissing }: Moves): WheelFrames {
  const drawn = timesOf(events, 'DrawFrame');
  const main = timesOf(events, 'BeginMainThreadFrame');
  const gaps = drawn.slice(1).map((time, at) => time - (drawn[at] ?? time));
  return {
    perSecond: perSecond(drawn),
    longestMs: gaps.reduce((most, gap) => Math.max(most, gap), 0) / 1_000,
    mainPerSecond: perSecond(main),
    shareMissing: missing / looks,
    mostMissing,
  };
}

const timesOf = (events: readonly TraceEvent[], what: string): readonly number[] =>
  events
    .filter(({ name }) => name === what)
    .map(({ ts }) => ts)
    .toSorted((a, b) => a - b);

const perSecond = (times: readonly number[]): number =>
  ((times.length - 1) * 1e6) / ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN));
