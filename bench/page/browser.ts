import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, CDPSession, Page } from 'puppeteer-core';
import { BENCH_USERS, type Gatehouse } from '../peers/gatehouse.ts';
import { type Frames, framesOf, HAS_FIRST_ROWS, SEEN, type Seen, WATCH } from './in-page.ts';
import { type LongestTask, type LongestTasks, longestOf, TASKS } from './tasks.ts';
import { traced } from './trace.ts';
import { turnWheel, type WheelFrames } from './wheel.ts';

/** One load of the page, until its first rows. */
export interface PageLoad {
  /** From the answer to the sign-in, or else from the beginning of the navigation, until the first row with text was drawn. */
  readonly firstRowsMs: number;
  /** What was sent until then, with headers: the files of the page, and answers of the API. */
  readonly fileBytes: number;
  readonly dataBytes: number;
  readonly longest: LongestTasks;
}

/** A table that is open while the cluster changes. */
export interface PageStay {
  /** The heap that is in use after all garbage was collected. */
  readonly heapBefore: number;
  readonly heapAfter: number;
  /** While nobody scrolls, and while a script does, so that the main thread must draw each frame. */
  readonly still: Frames;
  readonly scrolled: Frames;
  /** While a reader scrolls. */
  readonly wheel: WheelFrames;
  /** The longest task, in milliseconds, until the frames were counted, and its processor time during the scroll. */
  readonly longestMs: number;
  readonly longest: LongestTask;
}

/** How much slower than the machine's the processor of the page is. */
const SLOWED = 4;
const PATIENCE_MS = 120_000;
/** What is left open after the first rows belongs to them: their frame, and the stream. */
const SETTLE_MS = 1_500;
const STILL = { ms: 3_000, pxPerSecond: 0, jumpPx: 0, jumpEveryMs: 0 };
/** Seventy-five rows a second. */
const PX_PER_SECOND = 2_400;
/** Every three seconds to another place of the list, too. */
const SCROLL = { ms: 12_000, pxPerSecond: PX_PER_SECOND, jumpPx: 123_456, jumpEveryMs: 3_000 };
const TURN = { seconds: 12, pxPerSecond: PX_PER_SECOND };

/** A tab of a new browser profile, with a slow processor. */
export class SlowTab {
  readonly #page: Page;
  readonly #cdp: CDPSession;
  readonly #gatehouse: Gatehouse;
  #fileBytes = 0;
  #dataBytes = 0;

  private constructor(page: Page, cdp: CDPSession, gatehouse: Gatehouse) {
    this.#page = page;
    this.#cdp = cdp;
    this.#gatehouse = gatehouse;
  }

  static async open(context: BrowserContext, gatehouse: Gatehouse): Promise<SlowTab> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.setViewport({ width: 1280, height: 900 });
    await page.evaluateOnNewDocument(WATCH);
    await page.emulateCPUThrottling(SLOWED);
    const cdp = await page.createCDPSession();
    const tab = new SlowTab(page, cdp, gatehouse);
    await tab.#countBytes();
    return tab;
  }

  async #countBytes(): Promise<void> {
    const files = new Set<string>();
    this.#cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
      const { pathname } = new URL(request.url);
      if (!pathname.startsWith('/kapis/') && pathname !== '/ui/session') files.add(requestId);
    });
    this.#cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (files.has(requestId)) this.#fileBytes += encodedDataLength;
      else this.#dataBytes += encodedDataLength;
    });
    await this.#cdp.send('Network.enable');
  }

  /** Signs in at the page of this path, as somebody who has never been here. */
  async signIn(path: string): Promise<PageLoad> {
    await this.#page.goto(this.#address(path));
    await this.#page.waitForSelector('#password');
    await this.#page.type('#username', BENCH_USERS[0] ?? '');
    await this.#page.type('#password', this.#gatehouse.password);
    return this.#load(() => this.#page.click('form button'));
  }

  /** Opens the page with the session that stands. `cold`: the browser has nothing of it. */
  async load(path: string, { cold }: { readonly cold: boolean }): Promise<PageLoad> {
    await this.#page.goto('about:blank');
    if (cold) await this.#cdp.send('Network.clearBrowserCache');
    return this.#load(() => this.#page.goto(this.#address(path)));
  }

  #address = (path: string): string => `http://127.0.0.1:${this.#gatehouse.target.port}${path}`;

  async #load(go: () => Promise<unknown>): Promise<PageLoad> {
    [this.#fileBytes, this.#dataBytes] = [0, 0];
    const { result, events } = await traced(this.#page, TASKS, async () => {
      await go();
      await this.#firstRows();
      const bytes = { fileBytes: this.#fileBytes, dataBytes: this.#dataBytes };
      await sleep(SETTLE_MS);
      const { firstRows = Number.NaN, redirectEnd } = await this.#seen();
      return { ...bytes, firstRowsMs: firstRows - redirectEnd };
    });
    return { ...result, longest: longestOf(events) };
  }

  async #firstRows(): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!(await this.#page.evaluate(HAS_FIRST_ROWS).catch(() => false))) {
      if (performance.now() > giveUpAt) throw new Error(`${this.#page.url()} showed no row`);
      await sleep(50);
    }
  }

  #seen = async (): Promise<Seen> => (await this.#page.evaluate(SEEN)) as Seen;

  /** Stays at the page that is open for so long, and scrolls at the end. */
  async stay(ms: number): Promise<PageStay> {
    const heapBefore = await this.#heap();
    const { now } = await this.#seen();
    await sleep(ms);
    const still = await this.#frames(STILL);
    const { longTasks } = await this.#seen();
    const wheel = await turnWheel(this.#page, this.#cdp, TURN);
    const scrolled = await this.#frames(SCROLL);
    const { events } = await traced(this.#page, TASKS, () => this.#frames(SCROLL)); // to follow tasks takes time from each frame
    await sleep(SETTLE_MS);
    const longestMs = longTasks.filter(({ at }) => at > now).reduce((most, { ms }) => Math.max(most, ms), 0);
    const longest = longestOf(events).own;
    return { heapBefore, heapAfter: await this.#heap(), still, scrolled, wheel, longestMs, longest };
  }

  #frames = async (how: Parameters<typeof framesOf>[0]): Promise<Frames> =>
    (await this.#page.evaluate(framesOf(how))) as Frames;

  async #heap(): Promise<number> {
    await this.#cdp.send('HeapProfiler.collectGarbage');
    return (await this.#page.metrics()).JSHeapUsedSize ?? Number.NaN;
  }
}
