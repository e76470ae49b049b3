import type { NodeWatch } from '../../nodes/node-watch.ts';
import { eventBytes, retryField, type WatchForm } from '../../nodes/watch-event.ts';
import { StatusError } from '../../status-error.ts';
import { failureOf, toErrorAnswer } from '../answer/error-body.ts';
import type { SendQueues } from '../answer/send-queues.ts';
import type { Exchange } from '../chain/exchange.ts';
import { ReaderPace } from './reader-pace.ts';
import type { Recheck } from './recheck.ts';
import { StreamedBody } from './shared-chunk.ts';
import { endOf, isSound, type WatchEnd } from './watch-end.ts';

interface WatchTimes {
  /** The bearer is judged anew at this interval. */
  readonly recheckMs: number;
  /** At this interval a stream tells its reader the version that it has, however busy it is. */
  readonly bookmarkMs: number;
  /** After this time a client of server-sent events is to come back by itself. */
  readonly retryMs: number;
  /** A client that takes nothing of what lies ready for so long is cut off. */
  readonly stallMs: number;
}

export interface WatchStreamParts {
  readonly exchange: Exchange;
  readonly watch: NodeWatch;
  readonly form: WatchForm;
  readonly recheck: Recheck;
  readonly times: WatchTimes;
  /** When it is to end, by the monotonic clock; all times given to the methods are of that clock. */
  readonly endsAt: number;
  readonly startedAt: number;
  /** Called when the client takes bytes again. */
  onDrain(): void;
}

/**
 * One watch on its connection. It has no timer and no queue: it is looked at ten times a second, does one thing at a time when
 * its turn comes, and takes events from its watch only when the socket has room.
 */
export class WatchStream {
  readonly #parts: WatchStreamParts;
  readonly #body: StreamedBody;
  #recheckAt: number;
  #bookmarkAt: number;
  readonly #pace: ReaderPace;
  #pending: { readonly end: WatchEnd; readonly error?: unknown } | undefined;
  #end: WatchEnd | undefined;

  constructor(parts: WatchStreamParts) {
    this.#parts = parts;
    this.#body = new StreamedBody(parts.exchange);
    this.#recheckAt = parts.startedAt + parts.times.recheckMs;
    this.#bookmarkAt = parts.startedAt + parts.times.bookmarkMs;
    if (parts.form === 'events') this.#body.write(retryField(parts.times.retryMs));
    this.#pace = new ReaderPace(parts.times.stallMs);
    parts.exchange.response.on('drain', () => {
      if (this.#end !== undefined) return;
      this.#pace.unblock();
      parts.onDrain();
    });
  }

  /** `client` when it went by itself. */
  get end(): WatchEnd {
    return this.#end ?? 'client';
  }

  /** Whether `work` has something to do. Cheap: called for every stream all the time. */
  isDue(now: number): boolean {
    if (this.#end !== undefined) return false;
    if (this.#pending !== undefined || now >= this.#recheckAt || this.#isOver(now)) return true;
    return !this.#pace.isBlocked && (this.#parts.watch.isBehind || now >= this.#bookmarkAt);
  }

  /** Does the next thing that is due. */
  work(now: number): void {
    if (this.#end !== undefined) return;
    if (now >= this.#recheckAt) this.#recheck(now);
    if (this.#isOver(now)) this.#pending ??= { end: 'timeout' };
    if (this.#pending) this.#finish(this.#pending, now);
    else if (!this.#pace.isBlocked) this.#tell(now);
  }

  /** Whether `cutIfSlow` is to be called with what the kernel holds. */
  isToBeLookedAt(now: number): boolean {
    return this.#pace.isDue(now);
  }

  /** Cuts off a client that takes too little of what lies ready. `now`: when the queues were read. */
  cutIfSlow(queues: SendQueues, now: number): void {
    const { exchange } = this.#parts;
    const { socket } = exchange.response;
    // Most streams wait for nothing, and telling which of ten thousand sockets is which took 100 ms.
    if (!socket || !this.#pace.isBlocked) return;
    const taken = socket.bytesWritten - socket.writableLength - queues.bytesOf(socket);
    if (this.#pace.keepsUp(taken, now)) return;
    this.#end ??= 'slow';
    exchange.reason ??= 'slow';
    exchange.response.destroy();
  }

  /** Ends it at its next turn: with an event that says why, unless the server just stops. */
  fail(error: unknown): void {
    this.#pending ??= { end: endOf(error), error };
  }

  /** A first state is told to its end: who takes longer for it than a stream lasts would begin it again for ever. */
  #isOver(now: number): boolean {
    return now >= this.#parts.endsAt && !this.#parts.watch.isBeginning;
  }

  /** Ends it at its next turn. False when it was told so before, or ends for another reason. */
  stop(): boolean {
    if (this.#pending) return false;
    this.#pending = { end: 'stopping' };
    return true;
  }

  /** What has happened. When a bookmark is due, that first, as soon as its reader has been brought to a version. */
  #tell(now: number): void {
    const { watch } = this.#parts;
    try {
      const bytes = now >= this.#bookmarkAt ? this.#sign(now) : watch.next();
      if (bytes) this.#write(bytes, now);
      else this.#pace.rest();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A bookmark; on the way from one version to the next, what leads there; a sign of life where neither is to be had. */
  #sign(now: number): Uint8Array | undefined {
    const { watch, times } = this.#parts;
    const bookmark = watch.bookmark();
    const bytes = bookmark ?? watch.next();
    if (bookmark || !bytes) this.#bookmarkAt = now + times.bookmarkMs;
    return bytes ?? watch.keepAlive();
  }

  #write(bytes: Uint8Array, now: number): void {
    if (this.#body.write(bytes)) this.#pace.rest();
    else this.#pace.block(now);
  }

  /** A client of server-sent events that comes back too early would be refused, and many do not come back after that. */
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

  /** The last that is told is the version to go on from, as far as there is one, and the error. */
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
    // From here on the client has so long to take what is left.
    this.#pace.block(now);
    this.#body.end(bytes);
  }
}
