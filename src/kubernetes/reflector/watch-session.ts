import type { Clock } from '../../runtime/clock.ts';
import type { ReflectorMetrics } from '../metrics.ts';
import { compareResourceVersions, versionOf } from '../object.ts';
import { toStatus } from '../status.ts';
import { ReflectorRequest, SilenceLimit } from './attempt.ts';
import type { CacheWriter } from './cache-writer.ts';
import { type Failure, failureOfErrorEvent } from './failure.ts';
import { KeyTable } from './key-table.ts';
import type { ListerWatcher, WatchEvent, WatchRequest, WatchSink } from './lister-watcher.ts';
import type { Listed } from './paged-list.ts';
import type { WatchRun } from './recovery.ts';
import type { StoredEntry } from './store.ts';

export interface WatchSessionParts<E extends StoredEntry> {
  readonly source: ListerWatcher;
  readonly writer: CacheWriter<E>;
  readonly clock: Clock;
  readonly metrics: ReflectorMetrics;
  /** Called when the server has accepted the watch. */
  onAccepted(): void;
  /** Called when a bookmark below our version came: the server may have been restored. */
  onLowerBookmark(): void;
  /**
   * Called when the initial events are complete. A returned failure ends the stream. If a promise is returned, no event
   * is applied until it has resolved.
   */
  onListed(list: Listed<E>, signal: AbortSignal): Failure | undefined | Promise<Failure | undefined>;
}

/**
 * How long the initial events may make no progress: as long as a list. Changes in the same stream do not count: if a server
 * or proxy drops bookmarks, the initial events never end, and in a busy cluster the stream is never silent.
 */
const INITIAL_EVENTS_LIMIT_MS = 30_000;

const NO_PROGRESS: Failure = { kind: 'unsupported', detail: 'the initial events made no progress for 30 s' };

/** One watch from its request to its end, with initial events if requested. Hands its events to the writer. */
export class WatchSession<E extends StoredEntry> implements WatchSink {
  readonly #parts: WatchSessionParts<E>;
  readonly #request: WatchRequest;
  #attempt: ReflectorRequest | undefined;
  #initial: InitialEvents<E> | undefined;
  /** Runs until the initial events are complete. */
  #progress: SilenceLimit | undefined;
  #acceptedAt: number | undefined;
  #progressed = false;
  /** Events that came after the end of the initial events, while the reflector still writes these to the store. */
  #held: WatchEvent[] | undefined;
  #taking: Promise<void> | undefined;

  constructor(parts: WatchSessionParts<E>, request: WatchRequest) {
    this.#parts = parts;
    this.#request = request;
    if (request.initialEvents) this.#initial = new InitialEvents((value) => parts.writer.toEntry(value));
  }

  /** Whether the initial events are not complete yet. If the watch ends now, it counts as a list that failed. */
  get isListing(): boolean {
    return this.#initial !== undefined;
  }

  get wasAccepted(): boolean {
    return this.#acceptedAt !== undefined;
  }

  async run(signal: AbortSignal): Promise<WatchRun> {
    const { source, writer, clock } = this.#parts;
    writer.active();
    this.#attempt = new ReflectorRequest(clock, signal);
    const ended = await source.watch(this.#request, this, this.#attempt.signal);
    this.#progress?.stop();
    await this.#taking;
    const failure = this.#attempt.finish(ended);
    const livedMs = this.#acceptedAt === undefined ? 0 : clock.monotonic() - this.#acceptedAt;
    return { failure, livedMs, progressed: this.#progressed, resourceVersion: writer.resourceVersion };
  }

  /** Ends the watch, so that the reflector can list. */
  stop(): void {
    this.#attempt?.end({ kind: 'aborted' });
  }

  accepted(): void {
    this.#acceptedAt = this.#parts.clock.monotonic();
    this.#parts.onAccepted();
    if (this.#initial) {
      // The initial events are a list: they must keep flowing, and prove nothing before their end.
      this.#progress = new SilenceLimit(this.#parts.clock, INITIAL_EVENTS_LIMIT_MS, () =>
        this.#attempt?.end(NO_PROGRESS),
      );
      return;
    }
    this.#attempt?.allowQuiet();
    this.#parts.writer.proven();
  }

  bytes(): void {
    this.#attempt?.heard();
    this.#parts.writer.active();
  }

  busy(): Promise<void> | undefined {
    return this.#taking;
  }

  event(event: WatchEvent): Failure | undefined {
    this.#parts.metrics.event(event.type);
    if (!this.#held) return this.#take(event);
    this.#held.push(event);
    return undefined;
  }

  #take(event: WatchEvent): Failure | undefined {
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
      // A server with WatchList sends no other bookmark before the end, so this server treats the request as a plain
      // watch.
      if (event.type === 'BOOKMARK') return { kind: 'unsupported', detail: 'no end of the initial events' };
      if (initial.add(event)) this.#progress?.heard();
      return undefined;
    }
    this.#progress?.stop();
    const resourceVersion = versionOf(event.object);
    const list: Listed<E> = { kind: 'listed', entries: initial.entries(), resourceVersion };
    const signal = this.#attempt?.signal ?? AbortSignal.abort();
    const taken = this.#parts.onListed(list, signal);
    if (!(taken instanceof Promise)) return this.#listTaken(taken);
    // We read nothing meanwhile. That must not count as silence of the server.
    this.#attempt?.allowQuiet();
    this.#held = [];
    this.#taking = taken.then((failure) => this.#goOn(failure));
    return undefined;
  }

  #listTaken(failure: Failure | undefined): Failure | undefined {
    if (failure) return failure;
    this.#initial = undefined;
    this.#attempt?.allowQuiet();
    return undefined;
  }

  /** Applies the held events, in their order. */
  #goOn(failure: Failure | undefined): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#taking = undefined;
    let end = this.#listTaken(failure);
    for (const event of held) end ??= this.#take(event);
    if (end) this.#attempt?.end(end);
  }
}

/** The annotation that ends the initial events in a WatchList stream ("Streaming lists", KEP-3157). */
const END = 'k8s.io/initial-events-end';

export function endsInitialEvents(event: WatchEvent): boolean {
  if (event.type !== 'BOOKMARK') return false;
  const { metadata } = event.object as { metadata?: { annotations?: Record<string, unknown> } };
  return metadata?.annotations?.[END] === 'true';
}

/** The initial events of a WatchList stream, reduced to entries on arrival. Later changes may be mixed in before the end. */
export class InitialEvents<E extends StoredEntry> {
  readonly #entries = new KeyTable<E>();
  readonly #toEntry: (value: unknown) => E | undefined;
  /** The highest version that has come. */
  #newest = '';

  constructor(toEntry: (value: unknown) => E | undefined) {
    this.#toEntry = toEntry;
  }

  /**
   * Returns whether this is certainly an initial event and not a later change. Initial events come in the order of keys,
   * and changes in the order of versions. So a new object is an initial event if it comes first or is older than one that
   * came before. A new object that is newer than all before it may be either.
   */
  add(event: WatchEvent): boolean {
    const entry = this.#toEntry(event.object);
    if (!entry) return false;
    const { key, resourceVersion } = entry;
    const isNewest = this.#newest === '' || compareResourceVersions(resourceVersion, this.#newest) > 0;
    const isFirst = this.#newest === '';
    if (isNewest) this.#newest = resourceVersion;
    if (event.type === 'DELETED') {
      this.#entries.delete(key);
      return false;
    }
    const isMore = event.type === 'ADDED' && (isFirst || !isNewest) && !this.#entries.get(key);
    this.#entries.set(entry);
    return isMore;
  }

  entries(): E[] {
    return this.#entries.values();
  }
}
