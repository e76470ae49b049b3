import { hash } from 'node:crypto';
import { DataTooOld, type LastProof, oldestAgeMs, tooOldText } from '../data-age.ts';
import type { Freshness } from '../kubernetes/reflector/store.ts';
import type { Clock } from '../runtime/clock.ts';
import { serviceUnavailable } from '../status-error.ts';
import { LeafWarmer } from './bytes/leaf.ts';
import { fullListComposer, objectComposer, selectionComposer } from './bytes/list-body.ts';
import { type Composer, type Representation, VersionedRepresentation } from './bytes/representation.ts';
import type { Entry } from './entries/entry.ts';
import { answeredResource, typeMembers } from './entries/object-kind.ts';
import type { Snapshot } from './entries/snapshot.ts';
import type { ResourceStore } from './entries/store.ts';
import { dependOnOthers } from './query/filter.ts';
import type { ListQuery } from './query/list-query.ts';
import type { Within } from './query/within.ts';
import { Feed } from './watch/feed.ts';
import type { Watch, WatchSource } from './watch/watch.ts';
import type { WatchForm } from './watch/watch-event.ts';
import type { WatchQuery } from './watch/watch-query.ts';
import { versionIn } from './watch/watch-scope.ts';

/**
 * What the routes of a kind need of its cache. Reads memory only.
 * @example
 * ```ts
 * const parse = createListQueryParser(NODE_KIND);
 * function firstByName(lister: Lister): string {
 *   const answer = lister.list(parse('sortBy=name&ascending=true&limit=1'));
 *   return JSON.parse(Buffer.concat(answer.body('identity').pieces).toString()).items[0].metadata.name;
 * }
 *
 * const { lister, putNode } = makeCache(); // test/unit/resources/node-objects.ts
 * putNode(makeNode('worker-2'));
 * putNode(makeNode('worker-1'));
 * assert.equal(firstByName(lister), 'worker-1');
 * assert.equal(lister.get('worker-3'), undefined);
 * ```
 */
export interface Lister {
  /**
   * Throws a 503 `StatusError` before the first sync and when the data is too old. `within`: the part of the list that the caller may
   * see; absent: all.
   */
  list(query: ListQuery, within?: Within): Representation;
  /** `undefined` if there is no such object. Throws as `list` does. */
  get(key: string): Representation | undefined;
}

/** What the routes need to know of the age of an answer. */
export interface Age {
  /** Whole seconds since the oldest data behind the answers was last proved current. `undefined` up to a minute. */
  staleSeconds(): number | undefined;
}

export interface ListerOptions {
  readonly store: ResourceStore;
  /** By the name of the data: the freshness of all data behind the answers. */
  readonly freshness: Readonly<Record<string, Freshness>>;
  /** The right that we lack in the cluster, if refusals should name it as their reason. */
  missingRight?(): string | undefined;
  /** Requests are refused if the data is older. `Infinity`: never. */
  readonly maxStalenessMs: number;
  readonly clock: Clock;
  /** Random for each process, so that versions of two processes are never equal. */
  readonly epoch: string;
  /** Exposes how many bytes are held. Absent: they are exposed elsewhere. */
  exposeBytes?(resource: string, bytes: () => number): void;
  /** Whether changed leaves are compressed from the start, before a client has asked for a compressed list. Default: yes. */
  readonly isWarm?: boolean;
}

/** Objects of a list, and how many there are on all pages. */
interface SelectedEntries {
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** The list of a kind and its watches, with the background work that they need. */
export interface RunningLister extends Lister, WatchSource, Age {
  /**
   * Compresses changed leaves between other work while clients ask for gzip lists, and writes large changes of added
   * annotations. Runs until the signal aborts.
   */
  run(signal: AbortSignal): Promise<void>;
  /** The entries of a list. Throws as `list` does. */
  select(query: ListQuery, within?: Within): SelectedEntries;
}

export const createLister = (options: ListerOptions): RunningLister => new ResourceCache(options);

const UNSYNCED_RETRY_SECONDS = 5;
/**
 * An answer from older data has its age in a header. A healthy cluster sends something to each watch about every minute,
 * at least a bookmark.
 */
const REPORTED_AGE_MS = 60_000;
/**
 * How many unfiltered pages of one version are kept: 8 MB at most, plus their gzip forms. A page of twenty nodes of 12 kB
 * is short enough.
 */
const MOST_PAGES = 32;
const LONGEST_KEPT_PAGE_BYTES = 2 ** 18;
/** How long a large change of added annotations waits at most before it is written, such as that of thousands of pods. */
const DECORATE_INTERVAL_MS = 100;

class ResourceCache implements RunningLister {
  readonly #store: ResourceStore;
  readonly #resource: string;
  readonly #typeMembers: Uint8Array;
  readonly #missingRight: (() => string | undefined) | undefined;
  readonly #freshness: readonly Freshness[];
  readonly #proofs: readonly LastProof[];
  #isSynced = false;
  readonly #maxStalenessMs: number;
  readonly #epoch: string;
  readonly #clock: Clock;
  readonly #feed: Feed;
  readonly #warmer: LeafWarmer;
  /** The snapshot that `#fullList` and `#pages` belong to. */
  #current: Snapshot | undefined;
  #fullList: Representation | undefined;
  readonly #pages = new Map<string, Representation>();

  constructor(options: ListerOptions) {
    const { store } = options;
    this.#store = store;
    this.#resource = answeredResource(store.kind);
    this.#typeMembers = typeMembers(store.kind);
    this.#missingRight = options.missingRight;
    this.#freshness = Object.values(options.freshness);
    this.#proofs = this.#freshness.map(({ proof }) => proof);
    this.#maxStalenessMs = options.maxStalenessMs;
    this.#epoch = options.epoch;
    this.#clock = options.clock;
    this.#feed = new Feed(store, { epoch: this.#epoch, clock: options.clock });
    const warmed = { hasSynced: () => this.#hasSynced(), snapshot: () => store.snapshot(), renew: () => store.renew() };
    this.#warmer = new LeafWarmer(warmed, options.clock, options.isWarm ?? true);
    options.exposeBytes?.(store.kind.resource, () => store.heldBytes());
  }

  list(query: ListQuery, within?: Within): Representation {
    const snapshot = this.#freshSnapshot();
    if (dependOnOthers(query.conditions)) return this.#chosen(snapshot, query, within);
    if (within) {
      const selection = snapshot.select(query, within);
      return this.#represent(snapshot, selectionComposer(selection), within.id);
    }
    if (query.conditions.length > 0) return this.#select(snapshot, query);
    const { limit, page, sortBy, ascending } = query;
    if (limit === -1n && sortBy === 'creationTimestamp' && !ascending) return this.#full(snapshot);
    const key = `${limit} ${page} ${typeof sortBy === 'string' ? sortBy : sortBy.word} ${ascending}`;
    const kept = this.#pages.get(key);
    if (kept) return kept;
    const representation = this.#select(snapshot, query);
    if (representation.identityLength <= LONGEST_KEPT_PAGE_BYTES) this.#keepPage(key, representation);
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
    return ageMs > REPORTED_AGE_MS ? Math.floor(ageMs / 1_000) : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#warmer.run(signal), this.#decorate(signal)]);
  }

  /**
   * Writes large changes of added annotations even if no client reads the list. Otherwise the next client could get
   * annotations that are an hour old.
   */
  async #decorate(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await this.#clock.sleep(DECORATE_INTERVAL_MS, signal)) {
      if (!this.#store.isDecorated) this.#store.decorate();
    }
  }

  /** Keeps a page, in place of the oldest one if there are `MOST_PAGES` already. */
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

  /** The objects that other objects choose, as a Service does. These change without a new version of this list, so the ETag names the choice. */
  #chosen({ version }: Snapshot, query: ListQuery, within: Within | undefined): Representation {
    const selection = this.select(query, within);
    const choice = hash('sha256', selection.entries.map(({ key }) => key).join(), 'hex').slice(0, 16);
    const tag = versionIn(within?.id, `${this.#epoch}-${version}.${selection.total}.${choice}`);
    return new VersionedRepresentation(tag, selectionComposer(selection), this.#store.slices);
  }

  #select(snapshot: Snapshot, query: ListQuery): Representation {
    return this.#represent(snapshot, selectionComposer(snapshot.select(query)));
  }

  select(query: ListQuery, within?: Within): SelectedEntries {
    return this.#freshSnapshot().select(query, within);
  }

  #represent({ version }: Snapshot, composer: Composer, scope?: string): Representation {
    const tag = versionIn(scope, `${this.#epoch}-${version}`);
    return new VersionedRepresentation(tag, composer, this.#store.slices);
  }

  #hasSynced(): boolean {
    this.#isSynced ||= this.#freshness.every((reflector) => reflector.hasSynced());
    return this.#isSynced;
  }

  /** The age of the oldest data behind an answer. */
  #ageMs(): number {
    return oldestAgeMs(this.#proofs, this.#clock.monotonic());
  }

  /** The message of a refusal whose reason is a right that we lack. */
  #refusedText(): string | undefined {
    const why = this.#missingRight?.();
    return why && `${this.#resource} are not available: ${why}`;
  }

  /** The present snapshot. Throws a 503 before the first sync and when the data is too old. */
  #freshSnapshot(): Snapshot {
    const resource = this.#resource;
    if (!this.#hasSynced()) {
      const refused = this.#refusedText();
      if (refused !== undefined) throw serviceUnavailable(refused, undefined);
      throw serviceUnavailable(
        `${resource} are not available: first synchronisation has not finished`,
        UNSYNCED_RETRY_SECONDS,
      );
    }
    const tooOld = tooOldText(resource, this.#ageMs(), this.#maxStalenessMs);
    if (tooOld !== undefined) {
      const refused = this.#refusedText();
      throw refused === undefined ? new DataTooOld(tooOld) : serviceUnavailable(refused, undefined);
    }
    const snapshot = this.#store.snapshot();
    if (snapshot !== this.#current) {
      this.#current = snapshot;
      this.#fullList = undefined;
      this.#pages.clear();
    }
    return snapshot;
  }
}
