import { batch, signal } from '@preact/signals';
import { call } from '../api/call.ts';
import { mayPass, type Refusal } from '../api/refusal.ts';
import { tenantRoot } from '../app/settings.ts';
import { BackOff } from '../live/back-off.ts';
import { queryOf } from './query.ts';
import { type Bar, barsOf, intervalFor, type Span } from './time-range.ts';

/** Records that are asked for at once. */
const PAGE = 200;
/** The stores give no records behind this one (docs/contract/logging.md, section 2). */
const WINDOW = 10_000;
/** From this wait on, a reader is told that the store is slow. */
const SLOW_MS = 5_000;

/** What the searches of one kind of documents are called in the API. */
export interface DocumentPlace {
  /** The path below the root of tenants. */
  readonly path: string;
  /** What `statistics` counts beside the records; without it, the number is not asked for. */
  readonly counted?: string;
  /** The member with the bars of a histogram. */
  readonly buckets: string;
}

interface Query {
  readonly filters: Readonly<Record<string, string>>;
  readonly span: Span;
  readonly sort: 'asc' | 'desc';
}

/** The records of one answer. */
export interface Found<Document> {
  readonly query: { readonly total: number; readonly records: readonly Document[] };
}

interface Counted {
  readonly statistics: Readonly<Record<string, number>>;
}

interface Histogram {
  readonly histogram: Readonly<Record<string, readonly { readonly time: number; readonly count: number }[]>>;
}

/** One search of logs, events or audit records: what it has found, and its numbers. It lives until it is closed. */
export class DocumentSearch<Document> {
  readonly query: Query;
  /** `undefined` until the first answer. */
  readonly records = signal<readonly Document[] | undefined>(undefined);
  /** How many records the search finds in all. */
  readonly total = signal(0);
  /** How many different things these are about. */
  readonly counted = signal<number | undefined>(undefined);
  readonly bars = signal<readonly Bar[] | undefined>(undefined);
  readonly refusal = signal<Refusal | undefined>(undefined);
  readonly isLoading = signal(false);
  readonly isSlow = signal(false);
  /** Whether the answer came with a warning (RFC 7234 5.5): of what is not all that one may expect. */
  readonly isWarned = signal(false);

  protected readonly ended: AbortSignal;
  protected readonly backOff = new BackOff();
  readonly #place: DocumentPlace;
  readonly #stop = new AbortController();
  /** How many records were read, and how many the search found, without newer ones. */
  #offset = 0;
  #found = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: DocumentPlace, query: Query) {
    this.#place = place;
    this.query = query;
    this.ended = this.#stop.signal;
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
    if (this.records.value === undefined) void this.#begin();
    else void this.readNumbers();
  }

  /** The time that is searched. */
  get span(): Span {
    return this.query.span;
  }

  /** Whether more records can be asked for: those behind the store's window cannot. */
  get hasMore(): boolean {
    return this.#offset < Math.min(this.#found, WINDOW);
  }

  /** Whether the store has more records than it gives for one search. */
  get isBeyondWindow(): boolean {
    return this.#offset >= WINDOW && this.#found > WINDOW;
  }

  /** Reads the next records of the same time range. */
  more(): void {
    if (!this.isLoading.value) void this.#readPage();
  }

  async #begin(): Promise<void> {
    if (await this.#readPage()) void this.readNumbers();
  }

  async #readPage(): Promise<boolean> {
    const size = Math.min(PAGE, WINDOW - this.#offset);
    const slow = setTimeout(() => (this.isSlow.value = true), SLOW_MS);
    this.isLoading.value = true;
    const { span, sort } = this.query;
    const found = await this.ask<Found<Document>>(span, { sort, from: `${this.#offset}`, size: `${size}` });
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
  protected async readNumbers(): Promise<void> {
    const { span } = this;
    const interval = intervalFor(span);
    const { counted, buckets } = this.#place;
    const of = (more: Readonly<Record<string, string>>): string => this.#pathOf(span, more);
    const { ended: signal } = this;
    try {
      const [statistics, histogram] = await Promise.all([
        counted === undefined ? undefined : call<Counted>(of({ operation: 'statistics' }), { signal }),
        call<Histogram>(of({ operation: 'histogram', interval: interval.text }), { signal }),
      ]);
      batch(() => {
        if (statistics?.ok) this.counted.value = statistics.value.statistics[counted ?? ''];
        if (histogram.ok) this.bars.value = barsOf(histogram.value.histogram[buckets] ?? [], span, interval);
        const refused = [statistics, histogram].find((one) => one?.ok === false);
        if (!this.refusal.value && refused?.ok === false) this.refusal.value = refused.refusal;
      });
    } catch {
      // closed
    }
  }

  #pathOf(span: Span, parameters: Readonly<Record<string, string>>): string {
    return `${tenantRoot()}/${this.#place.path}?${queryOf(this.query.filters, span, parameters)}`;
  }

  /** Resolves to an answer for this time range; to nothing after a refusal, which is shown. */
  protected async ask<T>(span: Span, parameters: Readonly<Record<string, string>>): Promise<T | undefined> {
    try {
      const outcome = await call<T>(this.#pathOf(span, parameters), { signal: this.ended });
      this.refusal.value = outcome.ok ? undefined : outcome.refusal;
      if (outcome.ok) {
        this.backOff.succeeded();
        this.isWarned.value = outcome.headers.has('Warning');
        return outcome.value;
      }
      if (mayPass(outcome.refusal) && this.records.value === undefined)
        this.#timer = setTimeout(() => this.again(), this.backOff.failed(outcome.refusal.retryAfterSeconds));
    } catch {
      // closed
    }
    return undefined;
  }
}
