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
 * How long the first state may go without progress, the same as for a list. Changes come in the same stream and are no progress: if a
 * server or proxy drops bookmarks, the first state never ends, and under load the stream is never silent.
 */
const FIRST_STATE_LIMIT_MS = 30_000;

const NO_PROGRESS: Failure = { kind: 'unsupported', detail: 'the initial events made no progress for 30 s' };

/** One watch from its request to its end, with the initial events if they were requested. Feeds the writer. */
export class WatchSession<E extends StoredEntry> implements WatchSink {
  readonly #parts: WatchSessionParts<E>;
  readonly #request: WatchRequest;
  #attempt: ReflectorRequest | undefined;
  #initial: InitialEvents<E> | undefined;
  /** Runs while the first state is awaited. */
  #progress: SilenceLimit | undefined;
  #acceptedAt: number | undefined;
  #progressed = false;
  /** Events that came in the same chunk, after the list's end. They are held while the list goes into the store. */
  #held: WatchEvent[] | undefined;
  #taking: Promise<void> | undefined;

  constructor(parts: WatchSessionParts<E>, request: WatchRequest) {
    this.#parts = parts;
    this.#request = request;
    if (request.initialEvents) this.#initial = new InitialEvents((value) => parts.writer.toEntry(value));
  }

  /**
   * Whether the end of the initial events is still to come. If the watch ends now, that counts as the end of a list.
   */
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

  /** Ends the watch from outside, so that a list can come instead. */
  stop(): void {
    this.#attempt?.end({ kind: 'aborted' });
  }

  accepted(): void {
    this.#acceptedAt = this.#parts.clock.monotonic();
    this.#parts.onAccepted();
    if (this.#initial) {
      // The initial events are a list: they must keep flowing, and prove nothing before their end.
      this.#progress = new SilenceLimit(this.#parts.clock, FIRST_STATE_LIMIT_MS, () => this.#attempt?.end(NO_PROGRESS));
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
    // Nothing is read meanwhile, which must not count as silence of the server.
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

  /** Applies the events that came while the list went into the store, in their order. */
  #goOn(failure: Failure | undefined): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#taking = undefined;
    let end = this.#listTaken(failure);
    for (const event of held) end ??= this.#take(event);
    if (end) this.#attempt?.end(end);
  }
}

/** The annotation that ends the initial state in a WatchList stream ("Streaming lists", KEP-3157). */
const END = 'k8s.io/initial-events-end';

function endsInitialEvents(event: WatchEvent): boolean {
  if (event.type !== 'BOOKMARK') return false;
  const { metadata } = event.object as { metadata?: { annotations?: Record<string, unknown> } };
  return metadata?.annotations?.[END] === 'true';
}

/**
 * The state that a WatchList stream sends, reduced to entries on arrival. Changes may already be mixed in before the
 * end.
 */
export class InitialEvents<E extends StoredEntry> {
  readonly #entries = new KeyTable<E>();
  readonly #toEntry: (value: unknown) => E | undefined;
  /** The highest version that has come. */
  #newest = '';

  constructor(toEntry: (value: unknown) => E | undefined) {
    this.#toEntry = toEntry;
  }

  /**
   * Returns whether this is surely one more object of the first state. The first state comes in the order of keys, and changes come
   * in the order of versions. So a new object belongs to the first state if it comes first or is older than one that came before. A
   * new object that is newer than all before may be either.
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
