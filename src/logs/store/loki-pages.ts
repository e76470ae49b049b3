import { AnswerTooLong } from '../../kubernetes/client/send-request.ts';
import type { Page } from '../log-query.ts';
import { StoreError, TooLongAnswer } from './log-store.ts';
import type { LokiEntry } from './loki-answer.ts';
import type { Span } from './loki-query.ts';

/** Loki's own `max_entries_limit_per_query`. */
const MOST_ENTRIES = 5_000;
/** One is wanted, and one more is asked for. */
const FEWEST_ENTRIES = 2;

type Entries = readonly LokiEntry[];

/** What one question for entries asks. */
export interface EntriesQuestion extends Span {
  readonly order: Page['order'];
  readonly limit: number;
}

export interface PagesOptions extends Span {
  readonly order: Page['order'];
  /** How many entries are wanted at first, and at most in one piece. */
  readonly first: number;
  readonly most: number;
  /** The first of the entries in this order, as many as the limit says, in any order. */
  ask(question: EntriesQuestion): Promise<Entries>;
}

/**
 * The entries of a span in order of time; entries of one time are ordered by stream, and those of one stream as Loki has them. Loki may
 * cut a page between lines of the same timestamp, so we read the last timestamp of each page again.
 */
export async function* pagesOf({ order, first, most, ask, ...span }: PagesOptions): AsyncGenerator<Entries, void> {
  let { start, end } = span;
  // One more than wanted, because the last one is asked for again.
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

/** Returns nothing for an answer that is too long, since a smaller piece may fit. Throws every other error. */
function unlessTooLong(error: unknown): undefined {
  const isTooLong =
    error instanceof TooLongAnswer || (error instanceof StoreError && error.cause instanceof AnswerTooLong);
  if (!isTooLong) throw error;
}

const oldestFirst = (a: LokiEntry, b: LokiEntry): number => compare(a.at, b.at) || compare(a.stream, b.stream);

const compare = <Value extends bigint | string>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0);
