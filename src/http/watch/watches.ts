import type { Age } from '../../resources/cache.ts';
import type { WatchSource } from '../../resources/watch/watch.ts';
import type { WatchForm } from '../../resources/watch/watch-event.ts';
import type { WatchQuery } from '../../resources/watch/watch-query.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { chooseCoding } from '../answer/accept.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { staleHeaders } from '../answer/send-representation.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';
import type { HttpMetrics } from '../metrics.ts';
import type { Recheck } from './recheck.ts';
import { TurnTaking } from './turn-taking.ts';
import type { WatchPlaces } from './watch-places.ts';
import { WatchStream } from './watch-stream.ts';

export interface WatchesParts {
  readonly source: WatchSource;
  readonly age: Age;
  /** The watches of all kinds share these places. */
  readonly places: WatchPlaces;
  readonly limits: HttpLimits;
  readonly writer: AnswerWriter;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the port has closed: streams must end then. */
  readonly closing: AbortSignal;
  recheck(exchange: Exchange): Recheck;
}

/** How often the streams are looked at while there are any. Changes within this time are gathered into one batch. */
const LOOK_MS = 100;
const RECHECK_MS = 10_000;
/**
 * A bookmark is sent each minute at the latest. 45 s, because it waits for its turn, and proxies commonly close a
 * connection that is silent for 60 s.
 */
const BOOKMARK_MS = 45_000;
/** kube-apiserver ends its watches after 30 to 60 minutes, so that clients spread over the replicas again. */
const LIFETIME_MS = { least: 1_800_000, spread: 1_800_000 };
/**
 * Browsers wait three to five seconds by default. Spread, since the streams of a failed replica all come back together.
 */
const RETRY_MS = { least: 1_000, spread: 4_000 };
/**
 * At a shutdown the streams end over this time, not all at once: each of them asks another replica for the initial state.
 */
const STOPPING_MS = 5_000;

const HEADERS = {
  json: { 'Content-Type': 'application/json' },
  events: { 'Content-Type': 'text/event-stream' },
  // A proxy that buffers a body before it passes it on (nginx) would hold back all events.
  identity: {},
  gzip: { 'Content-Encoding': 'gzip' },
  common: {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    'X-Accel-Buffering': 'no',
    Connection: 'close',
  },
};

/** The running watches of a list. There is no timer while there are none. */
export class Watches {
  readonly #parts: WatchesParts;
  readonly #streams = new Set<WatchStream>();
  readonly #turns: TurnTaking<WatchStream>;
  #isLooking = false;
  /** The version at the last look, or when the first of the streams began. */
  #version: number | undefined;
  /** When the changes were found that some watches have not been sent yet. */
  #newsAt: number | undefined;
  /** Set at a shutdown: how many streams end at each look. */
  #endingShare: number | undefined;

  constructor(parts: WatchesParts) {
    this.#parts = parts;
    this.#turns = new TurnTaking({
      clock: parts.clock,
      work: (stream) => this.#work(stream),
      rest: () => this.#allTold(),
    });
    onAbort(parts.closing, () => this.#stop());
  }

  /**
   * Answers this exchange with a stream. Throws 429 when there is no place for it, and 503 and 410 as the source does.
   * A HEAD passes the same checks as a GET, and gets the headers only.
   */
  open(exchange: Exchange, query: WatchQuery, form: WatchForm): void {
    const { source, age, places, limits, writer, clock } = this.#parts;
    if (this.#endingShare !== undefined) throw serviceUnavailable('the server is stopping', 1);
    const user = exchange.identity?.name ?? '';
    places.check(user);
    const watch = source.watch(query, form);
    exchange.coding = chooseCoding(exchange.request.headers['accept-encoding'] as string | undefined);
    const { coding } = exchange;
    const headers = { ...HEADERS[form], ...HEADERS[coding], ...HEADERS.common };
    writer.begin(exchange, { ...headers, ...staleHeaders(age.staleSeconds()) });
    if (exchange.request.method === 'HEAD') return void exchange.response.end();
    this.#version ??= source.refresh();
    const startedAt = clock.monotonic();
    const stream: WatchStream = new WatchStream({
      exchange,
      watch,
      form,
      startedAt,
      endsAt:
        startedAt + (query.timeoutSeconds === undefined ? this.#within(LIFETIME_MS) : query.timeoutSeconds * 1_000),
      recheck: this.#parts.recheck(exchange),
      times: {
        recheckMs: RECHECK_MS,
        bookmarkMs: BOOKMARK_MS,
        retryMs: this.#within(RETRY_MS),
        sendTimeoutMs: limits.sendTimeoutMs,
      },
      onDrain: () => this.#turns.add(stream),
    });
    this.#streams.add(stream);
    exchange.atEnd(places.take(user));
    exchange.atEnd(() => this.#ended(stream));
    this.#turns.add(stream);
    this.#lookLater();
  }

  #now(): number {
    return this.#parts.clock.monotonic();
  }

  #within({ least, spread }: { readonly least: number; readonly spread: number }): number {
    return least + spread * this.#parts.random.fraction();
  }

  #ended(stream: WatchStream): void {
    this.#streams.delete(stream);
    this.#parts.metrics.watchEnded(stream.end);
  }

  /** The turn of a stream: it does one thing, and gets another turn when there is more. */
  #work(stream: WatchStream): void {
    if (!this.#streams.has(stream)) return;
    const now = this.#now();
    stream.work(now);
    if (stream.isDue(now)) this.#turns.add(stream);
  }

  #lookLater(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#parts.clock.after(LOOK_MS, () => {
      this.#isLooking = false;
      this.#look();
      if (this.#streams.size > 0) this.#lookLater();
      else this.#version = undefined;
    });
  }

  #look(): void {
    const now = this.#now();
    let hasNews = false;
    try {
      const version = this.#parts.source.refresh();
      hasNews = version !== this.#version;
      this.#version = version;
    } catch (error) {
      for (const stream of this.#streams) stream.fail(error);
    }
    let stopping = this.#endingShare ?? 0;
    for (const stream of this.#streams) {
      stream.cutIfStalled(now);
      if (stopping > 0 && stream.stop()) stopping--;
      if (!stream.isDue(now)) continue;
      this.#turns.add(stream);
      if (hasNews) this.#newsAt ??= now;
    }
  }

  /**
   * All watches have been sent the changes, except those whose clients do not read. These go on when their clients do.
   */
  #allTold(): void {
    if (this.#newsAt !== undefined) this.#parts.metrics.watchesTold(this.#now() - this.#newsAt);
    this.#newsAt = undefined;
  }

  #stop(): void {
    this.#endingShare = Math.ceil((this.#streams.size * LOOK_MS) / STOPPING_MS);
  }
}
