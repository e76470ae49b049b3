import { DataTooOld, tooOldText } from '../data-age.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import type { Clock } from '../runtime/clock.ts';
import { serviceUnavailable } from '../status-error.ts';
import { LeafWarmer } from './bytes/leaf-warmer.ts';
import { fullListComposer, objectComposer, selectionComposer } from './bytes/list-body.ts';
import { type Composer, type Representation, VersionedRepresentation } from './bytes/representation.ts';
import { typeMembers } from './entries/object-kind.ts';
import type { Snapshot } from './entries/snapshot.ts';
import type { ResourceStore } from './entries/store.ts';
import type { Age, Lister } from './lister.ts';
import type { ListQuery } from './query/list-query.ts';
import { Feed } from './watch/feed.ts';
import type { Watch, WatchSource } from './watch/watch.ts';
import type { WatchForm } from './watch/watch-event.ts';
import type { WatchQuery } from './watch/watch-query.ts';

export interface ListerOptions {
  readonly store: ResourceStore;
  /** Of all that the answers rest on, by its name. */
  readonly freshness: Readonly<Record<string, Freshness>>;
  /** What the cluster does not let us do, as far as the caller is to know why there is nothing yet. */
  missingRight?(): string | undefined;
  /** Answers from older data are refused. Infinity: none is. */
  readonly maxStalenessMs: number;
  readonly clock: Clock;
  /** Random, one a process: versions of different processes have nothing in common. */
  readonly epoch: string;
  /** Shows how many bytes are held. */
  exposeBytes(resource: string, bytes: () => number): void;
}

/** The list of a kind and its watches, and the parts that keep its gzip form cheap and what is added to it current. */
export interface RunningLister extends Lister, WatchSource, Age {
  /** Deflates changed leaves between other work while gzip lists are asked for, and brings in large changes of what is added. Lives until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export const createLister = (options: ListerOptions): RunningLister => new ResourceCache(options);

const UNSYNCED_RETRY_SECONDS = 5;
/** An answer from older data tells its age. A watch of a healthy cluster is told something about each minute, at least a bookmark. */
const TOLD_AGE_MS = 60_000;
/** Unfiltered pages of one version that are kept: 8 MB at most, gzip forms aside. Twenty nodes of 12 kB still fit a page. */
const MOST_PAGES = 32;
const LONGEST_KEPT_PAGE_BYTES = 2 ** 18;
/** What a change of thousands of pods waits for at most before the sums of nodes are made ready. */
const DECORATE_INTERVAL_MS = 100;

class ResourceCache implements RunningLister {
  readonly #store: ResourceStore;
  readonly #typeMembers: Uint8Array;
  readonly #missingRight: (() => string | undefined) | undefined;
  readonly #freshness: readonly Freshness[];
  readonly #maxStalenessMs: number;
  readonly #epoch: string;
  readonly #clock: Clock;
  readonly #feed: Feed;
  readonly #warmer: LeafWarmer;
  /** The snapshot that the kept answers below belong to. */
  #current: Snapshot | undefined;
  #fullList: Representation | undefined;
  readonly #pages = new Map<string, Representation>();

  constructor(options: ListerOptions) {
    const { store } = options;
    this.#store = store;
    this.#typeMembers = typeMembers(store.kind);
    this.#missingRight = options.missingRight;
    this.#freshness = Object.values(options.freshness);
    this.#maxStalenessMs = options.maxStalenessMs;
    this.#epoch = options.epoch;
    this.#clock = options.clock;
    this.#feed = new Feed(store, { epoch: this.#epoch, clock: options.clock });
    const warmed = { hasSynced: () => this.#hasSynced(), snapshot: () => store.snapshot(), renew: () => store.renew() };
    this.#warmer = new LeafWarmer(warmed, options.clock);
    options.exposeBytes(store.kind.resource, () => store.heldBytes());
  }

  list(query: ListQuery): Representation {
    const snapshot = this.#freshSnapshot();
    if (query.conditions.length > 0) return this.#select(snapshot, query);
    const { limit, page, sortBy, ascending } = query;
    if (limit === -1n && sortBy === 'creationTimestamp' && !ascending) return this.#full(snapshot);
    const key = `${limit} ${page} ${sortBy} ${ascending}`;
    const kept = this.#pages.get(key);
    if (kept) return kept;
    const representation = this.#select(snapshot, query);
    if (representation.length('identity') <= LONGEST_KEPT_PAGE_BYTES) this.#keepPage(key, representation);
    return representation;
  }

  get(key: string): Representation | undefined {
    const snapshot = this.#freshSnapshot();
    const entry = this.#store.get(key);
    return entry && this.#represent(snapshot, objectComposer(entry.encoded, this.#typeMembers));
  }

  refresh(): number {
    return this.#freshSnapshot().version;
  }

  watch(query: WatchQuery, form: WatchForm): Watch {
    this.#freshSnapshot();
    return this.#feed.watch(query, form);
  }

  staleSeconds(): number | undefined {
    const ageMs = this.#ageMs();
    return ageMs > TOLD_AGE_MS ? Math.floor(ageMs / 1_000) : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#warmer.run(signal), this.#decorate(signal)]);
  }

  /** A large change of what is added is brought in whether or not anybody asks, so that none who asks finds that of an hour ago. */
  async #decorate(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await this.#clock.sleep(DECORATE_INTERVAL_MS, signal)) {
      if (!this.#store.isDecorated) this.#store.decorate();
    }
  }

  /** Forgets the oldest page when there are enough. */
  #keepPage(key: string, page: Representation): void {
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size >= MOST_PAGES) this.#pages.delete(oldest);
    this.#pages.set(key, page);
  }

  #full(snapshot: Snapshot): Representation {
    if (this.#fullList) return this.#fullList;
    const composer = fullListComposer(snapshot, (outcome) => this.#warmer.asked(snapshot, outcome));
    this.#fullList = this.#represent(snapshot, composer);
    return this.#fullList;
  }

  #select(snapshot: Snapshot, query: ListQuery): Representation {
    return this.#represent(snapshot, selectionComposer(snapshot.select(query)));
  }

  #represent({ version }: Snapshot, composer: Composer): Representation {
    return new VersionedRepresentation(`${this.#epoch}-${version}`, composer, this.#store.slices);
  }

  #hasSynced(): boolean {
    return this.#freshness.every((reflector) => reflector.hasSynced());
  }

  /** Of the oldest data that an answer rests on. */
  #ageMs(): number {
    let oldest = 0;
    for (const reflector of this.#freshness) oldest = Math.max(oldest, reflector.stalenessMs());
    return oldest;
  }

  /** Throws the 503 of a cache that must not be read. */
  #freshSnapshot(): Snapshot {
    const { resource } = this.#store.kind;
    if (!this.#hasSynced()) {
      const why = this.#missingRight?.() ?? 'first synchronisation has not finished';
      throw serviceUnavailable(`${resource} are not available: ${why}`, UNSYNCED_RETRY_SECONDS);
    }
    const tooOld = tooOldText(resource, this.#ageMs(), this.#maxStalenessMs);
    if (tooOld !== undefined) throw new DataTooOld(tooOld);
    const snapshot = this.#store.snapshot();
    if (snapshot !== this.#current) {
      this.#current = snapshot;
      this.#fullList = undefined;
      this.#pages.clear();
    }
    return snapshot;
  }
}
