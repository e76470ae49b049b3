import { batch, signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { mayPass, type Refusal } from '../api/refusal.ts';
import { tenantRoot } from '../app/settings.ts';
import { BackOff } from '../live/back-off.ts';
import { isVisible } from '../live/stream-turn.ts';
import { queryOf } from './log-query.ts';
import { type LogRecord, newAmong, newestFirst } from './log-records.ts';
import { type Bar, barsOf, intervalFor, type Span } from './time-range.ts';

/** Records that are asked for at once. */
const PAGE = 200;
/** The stores give no records behind this one (docs/contract/logging.md, section 2). */
const WINDOW = 10_000;
/** The most records that are kept while newer ones come. */
const KEPT = 5_000;
const FOLLOW_MS = 3_000;
/** Records come into the store later than they were written: a collector sends what it has each few seconds. */
const LATE_SECONDS = 60;
/** The most records that one question for newer ones brings. */
const NEWER = 1_000;
/** The numbers are asked for again at each so many-th question for newer records. */
const NUMBERS_EVERY = 5;
/** From this wait on, a reader is told that the store is slow. */
const SLOW_MS = 5_000;

interface Query {
  readonly filters: Readonly<Record<string, string>>;
  readonly span: Span;
  readonly sort: 'asc' | 'desc';
}

interface Found {
  readonly query: { readonly total: number; readonly records: readonly LogRecord[] };
}

interface Counted {
  readonly statistics: { readonly containers: number; readonly logs: number };
}

interface Histogram {
  readonly histogram: { readonly histograms: readonly { readonly time: number; readonly count: number }[] };
}

/** One search in the log store: its records, its numbers, and what is newer if it is followed. It lives until it is closed. */
export class LogSearch {
  readonly query: Query;
  /** `undefined` until the first answer. */
  readonly records = signal<readonly LogRecord[] | undefined>(undefined);
  /** How many records the search finds in all. */
  readonly total = signal(0);
  readonly containers = signal<number | undefined>(undefined);
  readonly bars = signal<readonly Bar[] | undefined>(undefined);
  readonly refusal = signal<Refusal | undefined>(undefined);
  readonly isLoading = signal(false);
  readonly isSlow = signal(false);
  readonly isFollowing = signal(false);
  /** How many newer records one question could not bring, and how many older ones were let go. */
  readonly missed = signal(0);
  readonly dropped = signal(0);

  readonly #stop = new AbortController();
  readonly #backOff = new BackOff();
  /** How many records were read, and how many the search found, without newer ones. */
  #offset = 0;
  #found = 0;
  #end: number;
  #questions = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(query: Query) {
    this.query = query;
    this.#end = query.span.end;
    void this.#begin();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Asks again, after a refusal. */
  again(): void {
    clearTimeout(this.#timer);
    this.refusal.value = undefined;
    if (this.isFollowing.value) void this.#askNewer();
    else if (this.records.value === undefined) void this.#begin();
    else void this.#readNumbers();
  }

  /** The time up to which it was searched: that of newer records too. */
  get span(): Span {
    return { start: this.query.span.start, end: this.#end };
  }

  /** Whether more records can be asked for: those behind the store's window cannot. */
  get hasMore(): boolean {
    return this.dropped.value === 0 && this.#offset < Math.min(this.#found, WINDOW);
  }

  /** Whether the store has more records than it gives for one search. */
  get isBeyondWindow(): boolean {
    return this.#offset >= WINDOW && this.#found > WINDOW;
  }

  /** Reads the next records of the same time range. */
  more(): void {
    if (!this.isLoading.value) void this.#readPage();
  }

  /** Begins or ends to ask for newer records. */
  follow(isFollowing: boolean): void {
    if (this.isFollowing.value === isFollowing) return;
    clearTimeout(this.#timer);
    this.isFollowing.value = isFollowing;
    if (isFollowing) void this.#askNewer();
  }

  async #begin(): Promise<void> {
    if (await this.#readPage()) void this.#readNumbers();
  }

  async #readPage(): Promise<boolean> {
    const size = Math.min(PAGE, WINDOW - this.#offset);
    const slow = setTimeout(() => (this.isSlow.value = true), SLOW_MS);
    this.isLoading.value = true;
    const { span, sort } = this.query;
    const found = await this.#ask<Found>(span, { sort, from: `${this.#offset}`, size: `${size}` });
    clearTimeout(slow);
    this.isLoading.value = false;
    this.isSlow.value = false;
    if (!found) return false;
    const { total, records } = found.query;
    this.#offset += records.length || WINDOW;
    batch(() => {
      this.total.value += total - this.#found;
      this.#found = total;
      this.records.value = [...(this.records.value ?? []), ...records];
    });
    return true;
  }

  /** Reads what does not say which records there are, but how many and when. */
  async #readNumbers(): Promise<void> {
    const { filters } = this.query;
    const { span } = this;
    const interval = intervalFor(span);
    const path = (more: Readonly<Record<string, string>>): string =>
      `${tenantRoot()}/logs?${queryOf(filters, span, more)}`;
    const { signal } = this.#stop;
    try {
      const [counted, histogram] = await Promise.all([
        call<Counted>(path({ operation: 'statistics' }), { signal }),
        call<Histogram>(path({ operation: 'histogram', interval: interval.text }), { signal }),
      ]);
      batch(() => {
        if (counted.ok) this.containers.value = counted.value.statistics.containers;
        if (histogram.ok) this.bars.value = barsOf(histogram.value.histogram.histograms, span, interval);
        const { value: refusal } = this.refusal;
        if (!refusal)
          this.refusal.value = counted.ok ? (histogram.ok ? undefined : histogram.refusal) : counted.refusal;
      });
    } catch {
      // closed
    }
  }

  /** Asks for what came since the last question, and for what came late. */
  async #askNewer(): Promise<void> {
    let waitMs = FOLLOW_MS;
    if (isVisible.value) {
      const now = Math.floor(Date.now() / 1_000);
      const span = { start: Math.max(this.query.span.start, this.#end - LATE_SECONDS), end: Math.max(this.#end, now) };
      const found = await this.#ask<Found>(span, { sort: 'desc', size: `${NEWER}` });
      if (found) this.#addNewer(found, span);
      else waitMs = this.#backOff.failed(this.refusal.value?.retryAfterSeconds);
    }
    if (this.isFollowing.value && !this.#stop.signal.aborted) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#askNewer(), waitMs);
    }
  }

  #addNewer({ query: { total, records } }: Found, span: Span): void {
    this.#end = span.end;
    const known = this.records.value ?? [];
    const added = newAmong(known, records);
    const all = added.length === 0 ? known : newestFirst([...added, ...known]);
    batch(() => {
      this.records.value = all.slice(0, KEPT);
      this.dropped.value += Math.max(0, all.length - KEPT);
      this.total.value += added.length;
      if (added.length === NEWER) this.missed.value += total - records.length;
    });
    if (this.#questions++ % NUMBERS_EVERY === 0) void this.#readNumbers();
  }

  async #ask<T>(span: Span, parameters: Readonly<Record<string, string>>): Promise<T | undefined> {
    const path = `${tenantRoot()}/logs?${queryOf(this.query.filters, span, parameters)}`;
    try {
      const outcome = await call<T>(path, { signal: this.#stop.signal });
      this.refusal.value = outcome.ok ? undefined : outcome.refusal;
      if (outcome.ok) {
        this.#backOff.succeeded();
        return outcome.value;
      }
      if (mayPass(outcome.refusal) && this.records.value === undefined)
        this.#timer = setTimeout(() => this.again(), this.#backOff.failed(outcome.refusal.retryAfterSeconds));
    } catch {
      // closed
    }
    return undefined;
  }
}
