import type { Watch } from '../../resources/watch/watch.ts';
import { eventBytes, retryField, type WatchForm } from '../../resources/watch/watch-event.ts';
import { StatusError } from '../../status-error.ts';
import { failureOf, toErrorAnswer } from '../answer/error-body.ts';
import { bytesTaken, StallDetector } from '../answer/stall-detector.ts';
import type { Exchange } from '../exchange.ts';
import type { Recheck } from './recheck.ts';
import { StreamedBody } from './streamed-body.ts';
import { endOf, isSound, type WatchEnd } from './watch-end.ts';

interface WatchTimes {
  /** The interval at which the caller is checked again. */
  readonly recheckMs: number;
  /** The interval of bookmarks, which give the version that the stream has reached, also while it sends events. */
  readonly bookmarkMs: number;
  /** The time after which a client of server-sent events reconnects by itself. */
  readonly retryMs: number;
  /** A client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
}

export interface WatchStreamParts {
  readonly exchange: Exchange;
  readonly watch: Watch;
  readonly form: WatchForm;
  readonly recheck: Recheck;
  readonly times: WatchTimes;
  /** When the stream ends, by the monotonic clock. All times given to the methods are of that clock. */
  readonly endsAt: number;
  readonly startedAt: number;
  /** Called when the socket has room for more bytes again. */
  onDrain(): void;
}

/**
 * One watch on its connection. It has no timer and no queue. `Watches` checks it ten times a second; it does one thing in each turn,
 * and takes events from its watch only when the socket has room.
 */
export class WatchStream {
  readonly #parts: WatchStreamParts;
  readonly #body: StreamedBody;
  #recheckAt: number;
  #bookmarkAt: number;
  readonly #stall: StallDetector;
  #pending: { readonly end: WatchEnd; readonly error?: unknown } | undefined;
  #end: WatchEnd | undefined;

  constructor(parts: WatchStreamParts) {
    this.#parts = parts;
    this.#body = new StreamedBody(parts.exchange);
    this.#recheckAt = parts.startedAt + parts.times.recheckMs;
    this.#bookmarkAt = parts.startedAt + parts.times.bookmarkMs;
    if (parts.form === 'events') this.#body.write(retryField(parts.times.retryMs));
    this.#stall = new StallDetector(parts.times.sendTimeoutMs);
    parts.exchange.response.on('drain', () => {
      if (this.#end !== undefined) return;
      this.#stall.unblock();
      parts.onDrain();
    });
  }

  /** Why the stream ended; `client` when we did not end it. */
  get end(): WatchEnd {
    return this.#end ?? 'client';
  }

  /** Whether `work` has something to do. It must be cheap, because it is called for every stream ten times a second. */
  isDue(now: number): boolean {
    if (this.#end !== undefined) return false;
    if (this.#pending !== undefined || now >= this.#recheckAt || this.#isOver(now)) return true;
    return !this.#stall.isBlocked && (this.#parts.watch.isBehind || now >= this.#bookmarkAt);
  }

  /** Does the next thing that is due. */
  work(now: number): void {
    if (this.#end !== undefined) return;
    if (now >= this.#recheckAt) this.#recheck(now);
    if (this.#isOver(now)) this.#pending ??= { end: 'timeout' };
    if (this.#pending) this.#finish(this.#pending, now);
    else if (!this.#stall.isBlocked) this.#sendChanges(now);
  }

  /** Cuts off a client that has stopped reading. It must be cheap, because it is called for every stream ten times a second. */
  cutIfStalled(now: number): void {
    if (this.#stall.dueIn(now) !== 0) return;
    const { exchange } = this.#parts;
    const { socket } = exchange.response;
    if (!socket || !this.#stall.isStalled(bytesTaken(socket), now)) return;
    this.#end ??= 'slow';
    exchange.reason ??= 'slow';
    exchange.response.destroy();
  }

  /** Checks the caller at the next turn: the caller, or a session of the caller, has changed. */
  recheckSoon(): void {
    this.#recheckAt = Number.NEGATIVE_INFINITY;
  }

  /** The name of the caller. */
  get user(): string | undefined {
    return this.#parts.exchange.identity?.name;
  }

  /** Ends the stream at its next turn, with an event that says why. */
  fail(error: unknown): void {
    this.#pending ??= { end: endOf(error), error };
  }

  /**
   * Whether the stream's time is up. The initial state is always sent completely: otherwise a client that needs longer for it than
   * a stream lasts would start again for ever.
   */
  #isOver(now: number): boolean {
    return now >= this.#parts.endsAt && !this.#parts.watch.isBeginning;
  }

  /** Ends the stream at its next turn because the server stops. Returns false if it is already ending. */
  stop(): boolean {
    if (this.#pending) return false;
    this.#pending = { end: 'stopping' };
    return true;
  }

  /** Sends the next events. A bookmark that is due goes first, as soon as the reader has reached a version. */
  #sendChanges(now: number): void {
    const { watch } = this.#parts;
    try {
      const bytes = now >= this.#bookmarkAt ? this.#bookmarkOrNext(now) : watch.next();
      if (bytes) this.#write(bytes, now);
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * The bytes to send when a bookmark is due. A reader who is between two versions gets the next events instead, and a keep-alive if
   * there are none.
   */
  #bookmarkOrNext(now: number): Uint8Array | undefined {
    const { watch, times } = this.#parts;
    const bookmark = watch.bookmark();
    const bytes = bookmark ?? watch.next();
    if (bookmark || !bytes) this.#bookmarkAt = now + times.bookmarkMs;
    return bytes ?? watch.keepAlive();
  }

  #write(bytes: Uint8Array, now: number): void {
    if (!this.#body.write(bytes)) this.#block(now);
  }

  /**
   * The ERROR event. For server-sent events it comes with the retry time of the error. Without that, a client would reconnect too early
   * and be refused, and many clients do not try again after that.
   */
  #errorEvent(error: unknown): readonly Uint8Array[] {
    const { exchange, form } = this.#parts;
    const event = eventBytes('ERROR', toErrorAnswer(error, exchange.requestId, false).body, form);
    const seconds = error instanceof StatusError ? error.answer.details?.retryAfterSeconds : undefined;
    return form === 'events' && seconds !== undefined ? [retryField(seconds * 1_000), event] : [event];
  }

  #recheck(now: number): void {
    this.#recheckAt = now + this.#parts.times.recheckMs;
    try {
      this.#parts.recheck()?.catch((error) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the stream. Its last events are a bookmark from which the client can go on, if there is one, and the error. */
  #finish({ end, error }: { end: WatchEnd; error?: unknown }, now: number): void {
    const { exchange, watch } = this.#parts;
    this.#end = end;
    exchange.reason = end;
    exchange.failure = error && failureOf(error);
    const last: Uint8Array[] = [];
    const bookmark = isSound(end) ? watch.bookmark() : undefined;
    if (bookmark) last.push(bookmark);
    if (error) last.push(...this.#errorEvent(error));
    const bytes = last.length > 0 ? Buffer.concat(last) : undefined;
    this.#body.end(bytes);
    // The client may take as long to read the rest as it may for any other bytes.
    this.#block(now);
  }

  #block(now: number): void {
    const { socket } = this.#parts.exchange.response;
    if (socket) this.#stall.block(bytesTaken(socket), now);
  }
}
