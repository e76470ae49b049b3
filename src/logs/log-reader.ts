import { stripVTControlCharacters } from 'node:util';
import type { Subject } from '../authorization/authorizer.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LogQuery } from './log-query.ts';
import { mergeNewestFirst } from './merged.ts';
import type { LogMetrics } from './metrics.ts';
import { withEmptyBuckets } from './query/interval.ts';
import { toAnswer, tooManyBucketsFound, tooSlow } from './refusals.ts';
import { createReviewTurns, type ReadableNamespacesParts, readableNamespaces } from './rights/readable-namespaces.ts';
import { searchesFor } from './searches.ts';
import type { FoundMessage, FoundRecord, LogSearch, LogStore } from './store/log-store.ts';

export interface LogReaderOptions {
  /** How long a search may take, or a piece of an export, reviews included. */
  readonly timeLimitMs: number;
  /** Messages of one export. */
  readonly exportLimit: number;
}

export interface LogReaderParts extends Omit<ReadableNamespacesParts, 'turns'> {
  readonly store: LogStore;
  readonly clock: Clock;
  readonly metrics: LogMetrics;
}

/** Answers log queries: what the caller may see of what the store has (docs/contract/logging.md, sections 4 and 5). */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #parts: LogReaderParts;
  readonly #turns = createReviewTurns();

  constructor(options: LogReaderOptions, parts: LogReaderParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** The body of an answer. Rejects with a `StatusError`. An export has none: see `texts`. */
  async answer(subject: Subject, query: LogQuery, signal: AbortSignal): Promise<object> {
    const limited = this.#limited(signal);
    try {
      const searches = await limited.bound(this.#searches(subject, query, limited.signal));
      const body = await limited.bound(this.#compose(query, searches, limited.signal));
      this.#parts.metrics.answered(query.operation);
      return body;
    } catch (error) {
      throw this.#told(query, error);
    } finally {
      limited.end();
    }
  }

  /**
   * The messages of an export, the newest first: without colour codes, each with a newline at its end, in texts as they come.
   * Throws a `StatusError`. What the store keeps for it is given back when the loop over it ends.
   */
  async *texts(subject: Subject, query: LogQuery, signal: AbortSignal): AsyncGenerator<string, void> {
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
          limited.rest();
          yield taken.map(toLine).join('');
          limited.restart();
        }
      } finally {
        await pieces.return();
      }
      this.#parts.metrics.answered(query.operation);
    } catch (error) {
      throw this.#told(query, error);
    } finally {
      limited.end();
    }
  }

  async #searches(subject: Subject, query: LogQuery, signal: AbortSignal): Promise<LogSearch[]> {
    return searchesFor(query, await readableNamespaces(subject, query, { ...this.#parts, turns: this.#turns, signal }));
  }

  async #compose(query: LogQuery, searches: readonly LogSearch[], signal: AbortSignal): Promise<object> {
    const { store } = this.#parts;
    switch (query.operation) {
      case 'statistics': {
        // A container belongs to one namespace, and so to one search: no container is counted twice.
        const found = await Promise.all(searches.map((search) => store.count(search, signal)));
        const [containers, logs] = [found.map((one) => one.containers), found.map((one) => one.logs)];
        return { statistics: { containers: sum(containers), logs: sum(logs) } };
      }
      case 'histogram': {
        const found = await Promise.all(searches.map((search) => store.histogram(search, query.interval, signal)));
        const histograms = withEmptyBuckets(
          found.flatMap(({ buckets }) => buckets),
          query.interval,
        );
        if (!histograms) throw tooManyBucketsFound();
        return { histogram: { total: sum(found.map(({ total }) => total)), histograms } };
      }
      default:
        return { query: await this.#page(query, searches, signal) };
    }
  }

  /** Where there are several searches, each gives as many records as the page may need from it. */
  async #page({ page }: LogQuery, searches: readonly LogSearch[], signal: AbortSignal): Promise<object> {
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

  /** Returns the error that the caller gets, and counts it. */
  #told({ operation }: LogQuery, error: unknown): unknown {
    const answer = toAnswer(error, this.#options.timeLimitMs);
    this.#parts.metrics.failed(operation, answer);
    return answer;
  }

  #limited(signal: AbortSignal): Limited {
    return new Limited(this.#parts.clock, this.#options.timeLimitMs, signal);
  }
}

/** Ends work that takes too long, and all of it when its caller leaves. */
class Limited {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #controller = new AbortController();
  readonly #letGo: () => void;
  #cancel = (): void => undefined;

  constructor(clock: Clock, ms: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#ms = ms;
    this.#letGo = onAbort(signal, () => this.#controller.abort(new Error('the client has left')));
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the time limit. */
  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#ms, () => this.#controller.abort(tooSlow(this.#ms)));
  }

  /** Pauses the time limit while we wait for the client, which has limits of its own. */
  rest(): void {
    this.#cancel();
  }

  /** Ends what is still in flight too (one of several searches may have failed): nothing else would limit its time. */
  end(): void {
    this.#cancel();
    this.#letGo();
    this.#controller.abort(new Error('the query is over'));
  }

  /** Passes the source on, and ends all other work at once when it fails. Otherwise the merge would wait for each source. */
  async *endedBy<Piece>(source: AsyncGenerator<Piece, void>): AsyncGenerator<Piece, void> {
    try {
      yield* source;
    } catch (error) {
      this.#controller.abort(error);
      throw error;
    }
  }

  /** Settles as the work does, or rejects with the reason when it is ended before. */
  async bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    const ended = Promise.withResolvers<never>();
    const letGo = onAbort(signal, () => ended.reject(signal.reason));
    work.catch(() => undefined); // it may fail later, when nobody listens
    return Promise.race([work, ended.promise]).finally(letGo);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const newestFirst = (a: FoundRecord, b: FoundRecord): number => b.at - a.at;
const oldestFirst = (a: FoundRecord, b: FoundRecord): number => a.at - b.at;

/** Adds a newline if the message has none: some container runtimes cut it off, others keep it. */
function toLine({ log }: FoundMessage): string {
  const text = stripVTControlCharacters(log);
  return text.endsWith('\n') ? text : `${text}\n`;
}
