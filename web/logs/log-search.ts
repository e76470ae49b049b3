import { batch, signal } from '@preact/signals';
import { DocumentSearch, type Found } from '../documents/document-search.ts';
import type { Span } from '../documents/time-range.ts';
import { isVisible } from '../live/stream-turn.ts';
import { type LogRecord, newAmong, newestFirst } from './log-records.ts';

/** The most records that are kept while newer ones come. */
const KEPT = 5_000;
const FOLLOW_MS = 3_000;
/** Records come into the store later than they were written: a collector sends what it has each few seconds. */
const LATE_SECONDS = 60;
/** The most records that one question for newer ones brings. */
const NEWER = 1_000;
/** The numbers are asked for again at each so many-th question for newer records. */
const NUMBERS_EVERY = 5;

const LOGS = { path: 'logs', counted: 'containers', buckets: 'histograms' };

/** One search in the log store, and what is newer if it is followed. */
export class LogSearch extends DocumentSearch<LogRecord> {
  readonly isFollowing = signal(false);
  /** How many newer records one question could not bring, and how many older ones were let go. */
  readonly missed = signal(0);
  readonly dropped = signal(0);

  #end: number;
  #questions = 0;
  #next: ReturnType<typeof setTimeout> | undefined;

  constructor(query: DocumentSearch<LogRecord>['query']) {
    super(LOGS, query);
    this.#end = query.span.end;
  }

  override close(): void {
    clearTimeout(this.#next);
    super.close();
  }

  override again(): void {
    clearTimeout(this.#next);
    this.refusal.value = undefined;
    if (this.isFollowing.value) void this.#askNewer();
    else super.again();
  }

  /** The time up to which it was searched: that of newer records too. */
  override get span(): Span {
    return { start: this.query.span.start, end: this.#end };
  }

  override get hasMore(): boolean {
    return this.dropped.value === 0 && super.hasMore;
  }

  /** Begins or ends to ask for newer records. */
  follow(isFollowing: boolean): void {
    if (this.isFollowing.value === isFollowing) return;
    clearTimeout(this.#next);
    this.isFollowing.value = isFollowing;
    if (isFollowing) void this.#askNewer();
  }

  /** Asks for what came since the last question, and for what came late. */
  async #askNewer(): Promise<void> {
    let waitMs = FOLLOW_MS;
    if (isVisible.value) {
      const now = Math.floor(Date.now() / 1_000);
      const span = { start: Math.max(this.query.span.start, this.#end - LATE_SECONDS), end: Math.max(this.#end, now) };
      const found = await this.ask<Found<LogRecord>>(span, { sort: 'desc', size: `${NEWER}` });
      if (found) this.#addNewer(found, span);
      else waitMs = this.backOff.failed(this.refusal.value?.retryAfterSeconds);
    }
    if (this.isFollowing.value && !this.ended.aborted) {
      clearTimeout(this.#next);
      this.#next = setTimeout(() => void this.#askNewer(), waitMs);
    }
  }

  #addNewer({ query: { total, records } }: Found<LogRecord>, span: Span): void {
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
    if (this.#questions++ % NUMBERS_EVERY === 0) void this.readNumbers();
  }
}
