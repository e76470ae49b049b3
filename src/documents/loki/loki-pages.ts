import { AnswerTooLong } from '../../runtime/send-request.ts';
import { StoreError, TooLongAnswer } from '../../stores/store-error.ts';
import type { Page } from '../document-query.ts';
import type { LokiEntry } from './loki-answer.ts';
import type { Span } from './loki-query.ts';

/** The default of Loki's `max_entries_limit_per_query`. */
const MOST_ENTRIES = 5_000;
/** One entry and one more, because the last timestamp of a page is read again. */
const FEWEST_ENTRIES = 2;

type Entries = readonly LokiEntry[];

/** Requests one page of entries. */
export interface EntriesRequest extends Span {
  readonly order: Page['order'];
  readonly limit: number;
}

export interface PagesOptions extends Span {
  readonly order: Page['order'];
  /** The number of entries in the first page. */
  readonly first: number;
  /** The most entries in one page. */
  readonly most: number;
  /** Resolves to the first entries by `order`, up to `limit` of them, in any order among themselves. */
  ask(request: EntriesRequest): Promise<Entries>;
}

/**
 * The entries of a span in the order of time; entries with the same timestamp are sorted by stream, and within a stream they keep
 * Loki's order. Loki may cut a page between lines of the same timestamp, so we read the last timestamp of each page again.
 */
export async function* pagesOf({ order, first, most, ask, ...span }: PagesOptions): AsyncGenerator<Entries, void> {
  let { start, end } = span;
  // One more than wanted, because the last timestamp is read again.
  let ceiling = Math.min(most + 1, MOST_ENTRIES);
  let limit = Math.min(first + 1, ceiling);
  let isLowered = false;
  for (;;) {
    const answer = await ask({ start, end, order, limit }).catch(unlessTooLong);
    if (!answer) {
      if (limit <= FEWEST_ENTRIES) throw new StoreError('refused', 'the lines of the log store are too long');
      ceiling = limit = Math.max(Math.floor(limit / 4), FEWEST_ENTRIES);
      isLowered = true;
      continue;
    }
    const entries = answer.toSorted(order === 'asc' ? oldestFirst : (a, b) => oldestFirst(b, a));
    const last = entries.at(-1);
    if (!last || entries.length < limit) return yield entries;
    const whole = entries.filter(({ at }) => at !== last.at);
    if (whole.length === 0) {
      if (limit === MOST_ENTRIES || isLowered)
        throw new StoreError('refused', `${limit} lines or more have one time; ask for another time`);
      limit = Math.min(4 * limit, MOST_ENTRIES);
      continue;
    }
    yield whole;
    if (order === 'asc') start = last.at;
    else end = last.at + 1n;
    limit = Math.min(2 * limit, ceiling);
  }
}

/** Returns `undefined` for an answer that is too long, because a smaller page may fit. Throws every other error. */
function unlessTooLong(error: unknown): undefined {
  const isTooLong =
    error instanceof TooLongAnswer || (error instanceof StoreError && error.cause instanceof AnswerTooLong);
  if (!isTooLong) throw error;
}

const oldestFirst = (a: LokiEntry, b: LokiEntry): number => compare(a.at, b.at) || compare(a.stream, b.stream);

const compare = <Value extends bigint | string>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0);
