import type { NodeWatch } from '../nodes/node-watch.ts';
import { eventBytes, type WatchForm } from '../nodes/watch-event.ts';
import { failureOf, toErrorAnswer } from './error-body.ts';
import type { Exchange } from './exchange.ts';
import type { Recheck } from './recheck.ts';
import { StreamedBody } from './shared-chunk.ts';
import { endOf, type WatchEnd } from './watch-end.ts';

interface WatchTimes {
  /** The bearer is judged anew at this interval. */
  readonly recheckMs: number;
  /** An idle stream says something at this interval. */
  readonly keepAliveMs: number;
  /** Who takes nothing of what lies ready for so long is cut off. */
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
  #keepAliveAt: number;
  /** Since when the client has not taken what lies in its socket. */
  #blockedAt: number | undefined;
  #pending: { readonly end: WatchEnd; readonly error?: unknown } | undefined;
  #end: WatchEnd | undefined;

  constructor(parts: WatchStreamParts) {
    this.#parts = parts;
    this.#body = new StreamedBody(parts.exchange.response);
    this.#recheckAt = parts.startedAt + parts.times.recheckMs;
    this.#keepAliveAt = parts.startedAt + parts.times.keepAliveMs;
    parts.exchange.response.on('drain', () => {
      if (this.#end !== undefined) return;
      this.#blockedAt = undefined;
      parts.onDrain();
    });
  }

  /** `client` when it went by itself. */
  get end(): WatchEnd {
    return this.#end ?? 'client';
  }

  /** Whether `work` has something to do. Cheap: called for every stream all the time. */
  isDue(now: number): boolean {
    if (this.#blockedAt !== undefined && now - this.#blockedAt >= this.#parts.times.stallMs) return true;
    if (this.#end !== undefined) return false;
    if (this.#pending !== undefined || now >= this.#recheckAt) return true;
    if (now >= this.#parts.endsAt) return true;
    return this.#blockedAt === undefined && (this.#parts.watch.isBehind || now >= this.#keepAliveAt);
  }

  /** Does the next thing that is due. */
  work(now: number): void {
    const { times, endsAt } = this.#parts;
    if (this.#blockedAt !== undefined && now - this.#blockedAt >= times.stallMs) this.#cut();
    if (this.#end !== undefined) return;
    if (now >= this.#recheckAt) this.#recheck(now);
    if (now >= endsAt) this.#pending ??= { end: 'timeout' };
    if (this.#pending) this.#finish(this.#pending, now);
    else if (this.#blockedAt === undefined) this.#tell(now);
  }

  /** Ends it at its next turn: with an event that says why, unless the server just stops. */
  fail(error: unknown): void {
    this.#pending ??= { end: endOf(error), error };
  }

  /** Ends it at its next turn. False when it was told so before, or ends for another reason. */
  stop(): boolean {
    if (this.#pending) return false;
    this.#pending = { end: 'stopping' };
    return true;
  }

  /** What has happened; when nothing has for long, a sign of life. */
  #tell(now: number): void {
    const { watch, times } = this.#parts;
    try {
      let bytes = watch.next();
      if (!bytes && now >= this.#keepAliveAt) {
        this.#keepAliveAt = now + times.keepAliveMs;
        bytes = watch.keepAlive();
      }
      if (bytes) this.#write(bytes, now);
    } catch (error) {
      this.fail(error);
    }
  }

  #write(bytes: Uint8Array, now: number): void {
    const { exchange, times } = this.#parts;
    exchange.bodyBytes += bytes.length;
    this.#keepAliveAt = now + times.keepAliveMs;
    if (!this.#body.write(bytes)) this.#blockedAt = now;
  }

  #recheck(now: number): void {
    this.#recheckAt = now + this.#parts.times.recheckMs;
    try {
      this.#parts.recheck()?.catch((error) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  /** A stream that ends by itself ends with the place to go on from, if it has told all up to there. */
  #finish({ end, error }: { end: WatchEnd; error?: unknown }, now: number): void {
    const { exchange, watch, form } = this.#parts;
    this.#end = end;
    exchange.reason = end;
    exchange.failure = error && failureOf(error);
    const last = error
      ? eventBytes('ERROR', toErrorAnswer(error, exchange.requestId, false).body, form)
      : watch.keepAlive();
    // From here on the client has so long to take what is left.
    this.#blockedAt = now;
    if (last) exchange.bodyBytes += last.length;
    this.#body.end(last);
  }

  #cut(): void {
    const { exchange } = this.#parts;
    this.#end ??= 'slow';
    exchange.reason ??= 'slow';
    exchange.response.destroy();
  }
}
