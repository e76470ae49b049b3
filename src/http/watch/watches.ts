import type { Age } from '../../resources/cache.ts';
import type { Watch, WatchSource } from '../../resources/watch/watch.ts';
import type { WatchForm } from '../../resources/watch/watch-event.ts';
import type { WatchQuery } from '../../resources/watch/watch-query.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { chooseCoding } from '../answer/accept.ts';
import type { AnswerHeaders, AnswerWriter } from '../answer/answer.ts';
import { staleHeaders } from '../answer/send-representation.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import { UserSeats } from '../limits/user-seats.ts';
import type { HttpMetrics } from '../metrics.ts';
import type { CallerChanges } from './caller-changes.ts';
import type { Recheck } from './recheck.ts';
import { WatchStream } from './watch-stream.ts';
import { WorkSlices } from './work-slices.ts';

export interface WatchesParts {
  readonly source: WatchSource;
  readonly age: Age;
  /** Made by `watchSeats`. */
  readonly seats: UserSeats;
  readonly limits: HttpLimits;
  readonly writer: AnswerWriter;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly callerChanges: CallerChanges;
  /** Aborts when the port has closed: streams then end. */
  readonly closing: AbortSignal;
  recheck(exchange: Exchange, watch: Watch): Recheck;
}

/** The interval at which streams are checked while there are any. Changes within it are sent as one batch. */
const CHECK_MS = 100;
const RECHECK_MS = 10_000;
/**
 * Every stream gets a bookmark at least once a minute. 45 s leaves time for it to wait for its turn; proxies commonly close a
 * connection that is silent for 60 s.
 */
const BOOKMARK_MS = 45_000;
/** kube-apiserver ends its watches after 30 to 60 minutes, so that clients spread over the replicas again. */
const LIFETIME_MS = { least: 1_800_000, spread: 1_800_000 };
/**
 * The time after which clients of server-sent events reconnect; browsers wait three to five seconds by default. It is spread, because
 * the clients of a failed replica all reconnect together.
 */
const RETRY_MS = { least: 1_000, spread: 4_000 };
/**
 * At a shutdown the streams end spread over this time, because each client then asks another replica for the initial state.
 */
const STOPPING_MS = 5_000;

const HEADERS = {
  json: { 'Content-Type': 'application/json' },
  events: { 'Content-Type': 'text/event-stream' },
  identity: {},
  gzip: { 'Content-Encoding': 'gzip' },
  common: {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
    'X-Accel-Buffering': 'no', // nginx would buffer the body and hold back all events
    Connection: 'close',
  },
};

/** The seats of open watches (HL-05). The watches of all lists share them. */
export const watchSeats = ({ maxWatches, maxWatchesPerUser }: HttpLimits, metrics: HttpMetrics): UserSeats =>
  new UserSeats({
    all: maxWatches,
    perUser: maxWatchesPerUser,
    refused: (isPerUser) => metrics.rejected(isPerUser ? 'watches_per_user' : 'watches'),
    messageFor: (user) => `User "${user}" has ${maxWatchesPerUser} watches open and may have no more.`,
  });

/** The open watches of a list. While there are none, no timer runs. */
export class Watches {
  readonly #parts: WatchesParts;
  readonly #streams = new Set<WatchStream>();
  readonly #slices: WorkSlices<WatchStream>;
  #isCheckPlanned = false;
  /** The version at the last check, or when the first stream began. */
  #version: number | undefined;
  /** When changes were found that have not been sent to all watches yet. */
  #changedAt: number | undefined;
  /** Set at a shutdown: the number of streams that end at each check. */
  #endingShare: number | undefined;

  constructor(parts: WatchesParts) {
    this.#parts = parts;
    this.#slices = new WorkSlices({
      clock: parts.clock,
      work: (stream) => this.#work(stream),
      rest: () => this.#allSent(),
    });
    const endChanges = parts.callerChanges.onChange((users) => this.#recheck(users));
    onAbort(parts.closing, () => {
      endChanges();
      this.#stop();
    });
  }

  /**
   * Answers this exchange with a stream. Throws 429 when the user may open no further watch, and the 503 and 410 of the source. A HEAD
   * goes through the same checks as a GET, and gets only the headers. `further`: headers of the answer besides the usual ones.
   */
  open(exchange: Exchange, query: WatchQuery, form: WatchForm, further: AnswerHeaders = {}): void {
    const { source, age, seats, limits, writer, clock } = this.#parts;
    if (this.#endingShare !== undefined) throw serviceUnavailable('the server is stopping', 1);
    const user = exchange.identity?.name ?? '';
    seats.check(user);
    const watch = source.watch(query, form);
    exchange.coding = chooseCoding(exchange.request.headers['accept-encoding'] as string | undefined);
    const { coding } = exchange;
    const headers = { ...HEADERS[form], ...HEADERS[coding], ...HEADERS.common };
    writer.begin(exchange, { ...headers, ...staleHeaders(age.staleSeconds()), ...further });
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
      recheck: this.#parts.recheck(exchange, watch),
      times: {
        recheckMs: RECHECK_MS,
        bookmarkMs: BOOKMARK_MS,
        retryMs: this.#within(RETRY_MS),
        sendTimeoutMs: limits.sendTimeoutMs,
      },
      onDrain: () => this.#slices.add(stream),
    });
    this.#streams.add(stream);
    exchange.atEnd(seats.take(user));
    exchange.atEnd(() => this.#ended(stream));
    this.#slices.add(stream);
    this.#checkLater();
  }

  #recheck(users: ReadonlySet<string>): void {
    for (const stream of this.#streams) if (stream.user !== undefined && users.has(stream.user)) stream.recheckSoon();
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

  /** Lets a stream do one thing, and gives it another slice if there is more to do. */
  #work(stream: WatchStream): void {
    if (!this.#streams.has(stream)) return;
    const now = this.#now();
    stream.work(now);
    if (stream.isDue(now)) this.#slices.add(stream);
  }

  #checkLater(): void {
    if (this.#isCheckPlanned) return;
    this.#isCheckPlanned = true;
    this.#parts.clock.after(CHECK_MS, () => {
      this.#isCheckPlanned = false;
      this.#check();
      if (this.#streams.size > 0) this.#checkLater();
      else this.#version = undefined;
    });
  }

  #check(): void {
    const now = this.#now();
    let hasChanges = false;
    try {
      const version = this.#parts.source.refresh();
      hasChanges = version !== this.#version;
      this.#version = version;
    } catch (error) {
      for (const stream of this.#streams) stream.fail(error);
    }
    let stopping = this.#endingShare ?? 0;
    for (const stream of this.#streams) {
      stream.cutIfStalled(now);
      if (stopping > 0 && stream.stop()) stopping--;
      if (!stream.isDue(now)) continue;
      this.#slices.add(stream);
      if (hasChanges) this.#changedAt ??= now;
    }
  }

  /** Measures how long it took to send the changes to all watches, except to those whose clients do not read: they get them later. */
  #allSent(): void {
    if (this.#changedAt !== undefined) this.#parts.metrics.watchesUpdated(this.#now() - this.#changedAt);
    this.#changedAt = undefined;
  }

  #stop(): void {
    this.#endingShare = Math.ceil((this.#streams.size * CHECK_MS) / STOPPING_MS);
  }
}
