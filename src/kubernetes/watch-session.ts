import type { Clock } from '../clock.ts';
import { Attempt } from './attempt.ts';
import type { CacheWriter } from './cache-writer.ts';
import { versionOf } from './checked-object.ts';
import { type Failure, failureOfErrorEvent } from './failure.ts';
import { endsInitialEvents, InitialEvents } from './initial-events.ts';
import type { ListerWatcher, WatchRequest, WatchSink } from './lister-watcher.ts';
import type { ReflectorMetrics } from './metrics.ts';
import type { Listed } from './paged-list.ts';
import type { WatchRun } from './recovery.ts';
import { toStatus } from './status.ts';
import type { StoredEntry } from './store.ts';
import type { WatchEvent } from './watch-event.ts';

export interface WatchSessionParts<E extends StoredEntry> {
  readonly source: ListerWatcher;
  readonly writer: CacheWriter<E>;
  readonly clock: Clock;
  readonly metrics: ReflectorMetrics;
  /** The server took the watch. */
  onAccepted(): void;
  /** A bookmark below our version came: the server may have been restored. */
  onLowerBookmark(): void;
  /** The initial events are complete. A returned failure ends the stream. */
  onListed(list: Listed<E>): Failure | undefined;
}

/** One watch from its request to its end, with the initial events if they were asked for. Feeds the writer. */
export class WatchSession<E extends StoredEntry> implements WatchSink {
  readonly #parts: WatchSessionParts<E>;
  readonly #request: WatchRequest;
  #attempt: Attempt | undefined;
  #initial: InitialEvents<E> | undefined;
  #acceptedAt: number | undefined;
  #progressed = false;

  constructor(parts: WatchSessionParts<E>, request: WatchRequest) {
    this.#parts = parts;
    this.#request = request;
    if (request.initialEvents) this.#initial = new InitialEvents((value) => parts.writer.toEntry(value));
  }

  /** Still waiting for the end of the initial events: how it ends is how a list ended. */
  get isListing(): boolean {
    return this.#initial !== undefined;
  }

  get wasAccepted(): boolean {
    return this.#acceptedAt !== undefined;
  }

  async run(signal: AbortSignal): Promise<WatchRun> {
    const { source, writer, clock } = this.#parts;
    writer.active();
    this.#attempt = new Attempt(clock, signal);
    const failure = this.#attempt.finish(await source.watch(this.#request, this, this.#attempt.signal));
    const livedMs = this.#acceptedAt === undefined ? 0 : clock.monotonic() - this.#acceptedAt;
    return { failure, livedMs, progressed: this.#progressed, resourceVersion: writer.resourceVersion };
  }

  /** Ends it from outside, so that a list can come instead. */
  stop(): void {
    this.#attempt?.end({ kind: 'aborted' });
  }

  accepted(): void {
    this.#acceptedAt = this.#parts.clock.monotonic();
    this.#parts.onAccepted();
    if (this.#initial) return; // as a list: it must flow, and it proves nothing before its end
    this.#attempt?.allowQuiet();
    this.#parts.writer.proven();
  }

  bytes(): void {
    this.#attempt?.heard();
    this.#parts.writer.active();
  }

  event(event: WatchEvent): Failure | undefined {
    this.#parts.metrics.event(event.type);
    if (event.type === 'ERROR') return failureOfErrorEvent(toStatus(event.object, 0));
    if (this.#initial) return this.#initialEvent(this.#initial, event);
    if (this.#isLowerBookmark(event)) this.#parts.onLowerBookmark();
    if (this.#parts.writer.apply(event)) this.#progressed = true;
    return undefined;
  }

  #isLowerBookmark({ type, object }: WatchEvent): boolean {
    const version = type === 'BOOKMARK' ? versionOf(object) : '';
    return version !== '' && this.#parts.writer.isAheadOf(version);
  }

  #initialEvent(initial: InitialEvents<E>, event: WatchEvent): Failure | undefined {
    if (!endsInitialEvents(event)) {
      // A server that has WatchList sends no other bookmark before the end: this one took us for a plain watch.
      if (event.type === 'BOOKMARK') return { kind: 'unsupported', detail: 'no end of the initial events' };
      initial.add(event);
      return undefined;
    }
    const resourceVersion = versionOf(event.object);
    const failure = this.#parts.onListed({ kind: 'listed', entries: initial.entries(), resourceVersion });
    if (failure) return failure;
    this.#initial = undefined;
    this.#attempt?.allowQuiet();
    return undefined;
  }
}
