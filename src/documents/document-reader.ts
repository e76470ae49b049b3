import { stripVTControlCharacters } from 'node:util';
import type { Subject } from '../authorization/authorizer.ts';
import { createReviewSeats } from '../authorization/namespace-reviews.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { DocumentKind } from './document-kind.ts';
import type { DocumentQuery } from './document-query.ts';
import { mergeNewestFirst } from './merged.ts';
import type { DocumentMetrics } from './metrics.ts';
import { withEmptyBuckets } from './query/interval.ts';
import { NothingReadable, type SearchLimit, toAnswer, tooManyBucketsFound, tooSlow } from './refusals.ts';
import { type ReadableNamespacesParts, readableNamespaces } from './rights/readable-namespaces.ts';
import { searchesFor } from './searches.ts';
import type { DocumentSearch, DocumentStore, FoundMessage, FoundRecord } from './store/document-store.ts';

export interface DocumentReaderOptions {
  readonly kind: DocumentKind;
  /** The time limit of a search, or of one piece of an export, access reviews included. */
  readonly timeLimitMs: number;
  /** The most messages in one export. */
  readonly exportLimit: number;
}

export interface DocumentReaderParts extends Omit<ReadableNamespacesParts, 'right' | 'seats'> {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly metrics: DocumentMetrics;
}

/** Answers log queries with the records that the caller may see (docs/contract/logging.md, sections 4 and 5). */
export class DocumentReader {
  readonly #options: DocumentReaderOptions;
  readonly #parts: DocumentReaderParts;
  readonly #seats = createReviewSeats();

  constructor(options: DocumentReaderOptions, parts: DocumentReaderParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** The body of the answer to any query but an export (see `texts`). Rejects with a `StatusError`, or a `NothingReadable`. */
  async answer(subject: Subject, query: DocumentQuery, signal: AbortSignal): Promise<object> {
    const limited = this.#limited(signal);
    try {
      const searches = await limited.bound(this.#searches(subject, query, limited.signal));
      const body = await limited.bound(this.#compose(query, searches, limited.signal));
      this.#parts.metrics.answered(query.operation);
      return body;
    } catch (error) {
      throw this.#failure(query, error);
    } finally {
      limited.end();
    }
  }

  /**
   * The messages of an export, the newest first, in pieces as they arrive: without terminal escape sequences, each with a newline at its
   * end. Throws a `StatusError`. State that the store keeps for the search is released when the loop ends.
   */
  async *texts(subject: Subject, query: DocumentQuery, signal: AbortSignal): AsyncGenerator<string, void> {
    const limited = this.#limited(signal);
    try {
      const { store } = this.#parts;
      const searches = await limited.bound(this.#searches(subject, query, limited.signal));
      const sources = searches.map((search) => limited.endedBy(store.messages(search, limited.signal)));
      const pieces = mergeNewestFirst(sources);
      let left = this.#options.exportLimit;
      try {
        while (left > 0) {
          const { done, value } = await limited.bound(pieces.next());
          if (done || !value) break;
          const taken = value.slice(0, left);
          left -= taken.length;
          limited.pause();
          yield taken.map(toLine).join('');
          limited.restart();
        }
      } finally {
        await pieces.return();
      }
      this.#parts.metrics.answered(query.operation);
    } catch (error) {
      throw this.#failure(query, error);
    } finally {
      limited.end();
    }
  }

  /** The kind of documents that it reads. */
  get kind(): DocumentKind {
    return this.#options.kind;
  }

  get #limit(): SearchLimit {
    return { ms: this.#options.timeLimitMs, name: this.#options.kind.name };
  }

  async #searches(subject: Subject, query: DocumentQuery, signal: AbortSignal): Promise<DocumentSearch[]> {
    const { kind } = this.#options;
    const parts = { ...this.#parts, right: kind.right, seats: this.#seats, signal };
    const readable = await readableNamespaces(subject, query.scope, parts);
    const isNothing = !readable.everything && readable.namespaces.length === 0;
    const isOpen = Object.values(query.scope).every(({ length }) => length === 0);
    if (kind.refusesWithoutRight && isNothing && isOpen) throw new NothingReadable();
    return searchesFor(query, readable, kind);
  }

  async #compose(query: DocumentQuery, searches: readonly DocumentSearch[], signal: AbortSignal): Promise<object> {
    const { store } = this.#parts;
    const { answer } = this.#options.kind;
    switch (query.operation) {
      case 'statistics': {
        // What is counted belongs to one namespace, and so to one search, so nothing is counted twice.
        const found = await Promise.all(searches.map((search) => store.count(search, signal)));
        const [counted, total] = [found.map((one) => one.counted), found.map((one) => one.total)];
        return { statistics: { [answer.counted]: sum(counted), [answer.total]: sum(total) } };
      }
      case 'histogram': {
        const found = await Promise.all(searches.map((search) => store.histogram(search, query.interval, signal)));
        const buckets = withEmptyBuckets(
          found.flatMap(({ buckets }) => buckets),
          query.interval,
        );
        if (!buckets) throw tooManyBucketsFound();
        return { histogram: { total: sum(found.map(({ total }) => total)), [answer.buckets]: buckets } };
      }
      case 'query':
      case 'export':
        return { query: await this.#page(query, searches, signal) };
      default:
        return query.operation satisfies never;
    }
  }

  /** A page of records. With several searches, each returns as many records as the page may need from it. */
  async #page({ page }: DocumentQuery, searches: readonly DocumentSearch[], signal: AbortSignal): Promise<object> {
    const { store } = this.#parts;
    const { order, from, size } = page;
    const [only] = searches;
    if (only && searches.length === 1) {
      const { total, records } = await store.find(only, page, signal);
      return { total, records: records.map(({ record }) => record) };
    }
    const first = { order, from: 0, size: size === 0 ? 0 : from + size };
    const found = await Promise.all(searches.map((search) => store.find(search, first, signal)));
    const records = found.flatMap((one) => one.records).sort(order === 'asc' ? oldestFirst : newestFirst);
    return {
      total: sum(found.map(({ total }) => total)),
      records: records.slice(from, from + size).map(({ record }) => record),
    };
  }

  /** Returns the error for the caller, and counts it. */
  #failure({ operation }: DocumentQuery, error: unknown): unknown {
    const answer = toAnswer(error, this.#limit);
    this.#parts.metrics.failed(operation, answer);
    return answer;
  }

  #limited(signal: AbortSignal): Limited {
    return new Limited(this.#parts.clock, this.#limit, signal);
  }
}

/** Ends work at a time limit, or when the client disconnects. */
class Limited {
  readonly #clock: Clock;
  readonly #limit: SearchLimit;
  readonly #controller = new AbortController();
  readonly #removeListener: () => void;
  #cancel = (): void => undefined;

  constructor(clock: Clock, limit: SearchLimit, signal: AbortSignal) {
    this.#clock = clock;
    this.#limit = limit;
    this.#removeListener = onAbort(signal, () => this.#controller.abort(new Error('the client has left')));
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the time limit. */
  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#limit.ms, () => this.#controller.abort(tooSlow(this.#limit)));
  }

  /** Pauses the time limit while we wait for the client to read, for which there is another limit. */
  pause(): void {
    this.#cancel();
  }

  /** Ends the time limit and aborts work that is still in flight, such as other searches after one has failed. */
  end(): void {
    this.#cancel();
    this.#removeListener();
    this.#controller.abort(new Error('the query is over'));
  }

  /** Yields the pieces of the source. If the source fails, all other work is aborted at once; the merge would wait for every source. */
  async *endedBy<Piece>(source: AsyncGenerator<Piece, void>): AsyncGenerator<Piece, void> {
    try {
      yield* source;
    } catch (error) {
      this.#controller.abort(error);
      throw error;
    }
  }

  /** Settles as the work does, or rejects with the reason of the abort if that comes first. */
  async bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    const ended = Promise.withResolvers<never>();
    const removeListener = onAbort(signal, () => ended.reject(signal.reason));
    work.catch(() => undefined); // it may reject after the race, which must not be an unhandled rejection
    return Promise.race([work, ended.promise]).finally(removeListener);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const newestFirst = (a: FoundRecord, b: FoundRecord): number => b.at - a.at;
const oldestFirst = (a: FoundRecord, b: FoundRecord): number => a.at - b.at;

/** Removes terminal escape sequences, and adds a newline if the message has none: some container runtimes cut it off, others keep it. */
function toLine({ log }: FoundMessage): string {
  const text = stripVTControlCharacters(log);
  return text.endsWith('\n') ? text : `${text}\n`;
}
