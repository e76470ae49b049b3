import { batch, signal } from '@preact/signals';
import { ageIn, call, SLOW_MS } from '../api/call.ts';
import type { KubernetesObject, ObjectList } from '../api/objects.ts';
import { mayPass, type Refusal } from '../api/refusal.ts';
import { settings } from '../app/settings.ts';
import { BackOff } from './back-off.ts';
import { type Change, followChanges } from './changes.ts';
import { HeldOrder } from './held-order.ts';
import type { Rows } from './rows.ts';
import { isSameState } from './same-state.ts';
import { ToldVersions } from './told-versions.ts';

/** Objects a page of the list: more than a usual screen shows, and few enough for a slow processor to read at once (600 kB of nodes). */
const PAGE_ROWS = 50;
/** Pages that are kept. The one that was not on the screen for the longest goes first. */
const KEPT_PAGES = 12;
/** Rows of a page that is read before a scroll comes to it: at 75 rows a second two thirds of a second. */
const AHEAD_ROWS = 50;
/** Orders by what never changes of an object; without a word it is by the time of its creation. */
const FIXED_ORDERS: ReadonlySet<string> = new Set(['', 'name', 'createTime', 'creationTimestamp']);
/** The least time between two readings of what is on the screen. */
const LEAST_PAUSE_MS = 1_000;

export interface ListQuery {
  readonly path: string;
  /** Filters and order, in the words of the list. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The API has no watch of this list: it is asked for now and then. */
  readonly isPolled?: boolean;
}

/**
 * A list of any length, of which only what is on the screen is read (W-10). Filter, order and pages are the server's. What changes is read
 * again, at most once a second.
 */
export class LiveList {
  /** `undefined` until the first answer. */
  readonly total = signal<number | undefined>(undefined);
  readonly rows = signal<Rows>(new Map());
  /** Why the last reading brought nothing. What was there stays. */
  readonly refusal = signal<Refusal | undefined>(undefined);
  /** How old the answer was when the server gave it, in seconds. */
  readonly age = signal(0);
  /** In how many namespaces the caller may see the kind, if not in all. */
  readonly namespaces = signal<number | undefined>(undefined);
  readonly isLive = signal(false);
  /** Whether an answer is late. */
  readonly isSlow = signal(false);
  /** Changes that are not shown while the order stands still. */
  readonly waiting = signal(0);
  readonly isPolled: boolean;

  readonly #query: ListQuery;
  readonly #pages = new Map<number, readonly KubernetesObject[]>();
  readonly #stale = new Set<number>();
  readonly #tags = new Map<number, string>();
  readonly #stop = new AbortController();
  /** Whether an object keeps its place while only its content changes: an object that begins or ceases to match is `ADDED` or `DELETED`. */
  readonly #isOrderFixed: boolean;
  readonly #backOff = new BackOff();
  readonly #endChanges: () => void;
  #total: number | undefined;
  #first = 0;
  #last = 0;
  #held: HeldOrder | undefined;
  readonly #told = new ToldVersions();
  #isReading = false;
  /** The page that is being read: what changes meanwhile may not be in it. */
  #inFlight: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Until when nothing is read after a refusal, whatever changes and whatever comes on the screen. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(query: ListQuery) {
    this.#query = query;
    this.isPolled = query.isPolled ?? false;
    const { sortBy = '', ascending: _, ...filters } = query.parameters;
    this.#isOrderFixed = FIXED_ORDERS.has(sortBy);
    this.#endChanges = followChanges(
      { path: query.path, parameters: filters, isPolled: this.isPolled },
      {
        onUnknown: () => this.#changed([]),
        onChanges: (changes) => this.#changed(changes),
        onLive: (isLive) => {
          this.isLive.value = isLive;
        },
      },
    );
    void this.#read();
  }

  close(): void {
    this.#endChanges();
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Says which places of the list are on the screen. */
  show(first: number, last: number): void {
    [this.#first, this.#last] = [first, Math.max(first, last)];
    if (this.#missing().some((page) => !this.#pages.has(page))) this.#readNow();
  }

  /** Lets the order stand still while somebody points at a row. What the rows say goes on. */
  hold(isHeld: boolean): void {
    if (isHeld === (this.#held !== undefined)) return;
    this.#held = isHeld ? new HeldOrder(this.rows.value) : undefined;
    this.#publish();
  }

  /** Shows the changes now that wait until the pointer leaves. */
  showWaiting(): void {
    if (this.#held) this.#held = new HeldOrder(this.#places());
    this.total.value = this.#total;
    this.#publish();
  }

  /** Reads again, after a refusal. */
  again(): void {
    this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#changed([]);
    this.#readNow();
  }

  /** Without changes, anything may have changed. */
  #changed(changes: readonly Change[]): void {
    if (this.#total !== undefined) this.#held?.note(changes);
    const areOnlyInside = changes.length > 0 && this.#isOrderFixed && changes.every(({ type }) => type === 'MODIFIED');
    const uids = new Set(changes.map(({ uid }) => uid));
    this.#told.note(changes);
    for (const [page, items] of this.#pages)
      if (!areOnlyInside || items.some(({ metadata }) => uids.has(metadata.uid ?? ''))) this.#stale.add(page);
    if (this.#inFlight !== undefined) this.#stale.add(this.#inFlight);
    if (this.#missing().length > 0) this.#readIn(this.#readAt + LEAST_PAUSE_MS - performance.now());
  }

  #readIn(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), Math.max(0, waitMs, this.#notBefore - performance.now()));
  }

  #readNow(): void {
    if (this.#notBefore > performance.now()) this.#readIn(0);
    else void this.#read();
  }

  /** The pages that must be read: those on the screen first, then those that a scroll will soon show. */
  #missing(): number[] {
    const shown = pagesOf(this.#first, this.#last).filter((page) => !this.#pages.has(page) || this.#stale.has(page));
    if (this.#first === 0) return shown; // nobody has scrolled
    const lastPlace = (this.#total ?? 0) - 1;
    const near = pagesOf(Math.max(0, this.#first - AHEAD_ROWS), Math.min(lastPlace, this.#last + AHEAD_ROWS));
    return [...shown, ...near.filter((page) => !this.#pages.has(page) && !shown.includes(page))];
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#stop.signal.aborted) return;
    this.#isReading = true;
    try {
      this.#readAt = performance.now();
      for (const page of this.#missing()) {
        // A reader who has jumped elsewhere meanwhile does not wait for pages of the old place.
        if (!this.#missing().includes(page)) continue;
        if (!(await this.#readPage(page))) return;
      }
      this.#readMore();
    } catch {
      // The list is closed.
    } finally {
      this.#isReading = false;
    }
  }

  /** What has come on the screen meanwhile is read at once, what has only changed is read after the pause. */
  #readMore(): void {
    const missing = this.#missing();
    if (missing.length === 0) return;
    const isNew = missing.some((page) => !this.#pages.has(page));
    this.#readIn(isNew ? 0 : this.#readAt + LEAST_PAUSE_MS - performance.now());
  }

  async #readPage(page: number): Promise<boolean> {
    const { path, parameters } = this.#query;
    const query = new URLSearchParams({ ...parameters, limit: `${PAGE_ROWS}`, page: `${page + 1}` });
    this.#stale.delete(page);
    this.#inFlight = page;
    const tag = this.#tags.get(page);
    const outcome = await this.#timed(
      call<ObjectList>(`${path}?${query}`, {
        headers: tag === undefined ? {} : { 'If-None-Match': tag },
        signal: this.#stop.signal,
      }),
    );
    this.#inFlight = undefined;
    if (!outcome.ok) return this.#refused(page, outcome.refusal, outcome.headers);
    this.#backOff.succeeded();
    this.#accept(page, outcome.value, outcome.headers);
    return true;
  }

  async #timed<T>(answer: Promise<T>): Promise<T> {
    const late = setTimeout(() => (this.isSlow.value = true), SLOW_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(late);
      this.isSlow.value = false;
    }
  }

  #refused(page: number, refusal: Refusal, headers: Headers | undefined): boolean {
    if (refusal.status === 304) {
      this.#backOff.succeeded();
      this.refusal.value = undefined;
      this.age.value = ageIn(headers);
      return true;
    }
    this.#stale.add(page);
    this.refusal.value = refusal;
    if (!mayPass(refusal)) return false;
    const waitMs = this.#backOff.failed(refusal.retryAfterSeconds);
    this.#notBefore = performance.now() + waitMs;
    this.#readIn(waitMs);
    return false;
  }

  #accept(page: number, { items, totalItems }: ObjectList, headers: Headers): void {
    const before = new Map((this.#pages.get(page) ?? []).map((object) => [object.metadata.uid, object]));
    this.#pages.delete(page);
    this.#pages.set(
      page,
      items.map((item) => {
        const old = before.get(item.metadata.uid);
        return old && isSameState(old, item) ? old : item;
      }),
    );
    const tag = headers.get('ETag');
    if (tag) this.#tags.set(page, tag);
    if (this.#told.areBehind(items)) this.#stale.add(page);
    this.#forgetFar();
    batch(() => {
      this.refusal.value = undefined;
      this.age.value = ageIn(headers);
      this.namespaces.value = namespacesIn(headers);
      this.#total = totalItems;
      this.#publish();
    });
  }

  #forgetFar(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= KEPT_PAGES) return;
      if (pagesOf(this.#first, this.#last).includes(page)) continue;
      this.#pages.delete(page);
      this.#tags.delete(page);
      this.#stale.delete(page);
    }
  }

  #places(): Rows {
    const places = new Map<number, KubernetesObject>();
    for (const [page, items] of this.#pages)
      for (const [place, item] of items.entries()) places.set(page * PAGE_ROWS + place, item);
    return places;
  }

  #publish(): void {
    const places = this.#places();
    const shown = this.#held?.arrange(places, this.#total ?? 0) ?? places;
    batch(() => {
      this.rows.value = shown;
      this.waiting.value = this.#held?.waiting ?? 0;
      if (!this.#held || this.total.value === undefined) this.total.value = this.#total;
    });
  }
}

/** The pages of the list that have these places. */
function pagesOf(first: number, last: number): readonly number[] {
  const from = Math.floor(first / PAGE_ROWS);
  return Array.from({ length: Math.floor(last / PAGE_ROWS) - from + 1 }, (_, index) => from + index);
}

/** The number in `permitted; namespaces=12`, the scope of a list over part of the namespaces (KD-13). */
function namespacesIn(headers: Headers): number | undefined {
  const scope = headers.get(`${settings().platform}-Scope`);
  const [, count] = /namespaces=(\d+)/.exec(scope ?? '') ?? [];
  return count === undefined ? undefined : Number(count);
}
