import type { Registry } from 'prom-client';
import { DataTooOld, tooOldText } from '../data-age.ts';
import type { Freshness } from '../kubernetes/reflector/freshness.ts';
import type { Clock } from '../runtime/clock.ts';
import { serviceUnavailable } from '../status-error.ts';
import { LeafWarmer } from './bytes/leaf-warmer.ts';
import { fullListComposer, nodeComposer, selectionComposer } from './bytes/list-body.ts';
import { type Composer, VersionedRepresentation } from './bytes/representation.ts';
import type { NodeSnapshot } from './entries/snapshot.ts';
import type { NodeStore } from './entries/store.ts';
import { registerCacheBytes } from './metrics.ts';
import type { NodeAge, NodeLister, Representation } from './node-lister.ts';
import type { NodeListQuery } from './query/list-query.ts';
import { NodeFeed } from './watch/feed.ts';
import type { NodeWatch, NodeWatchSource } from './watch/watch.ts';
import type { WatchForm } from './watch/watch-event.ts';
import type { NodeWatchQuery } from './watch/watch-query.ts';

export interface NodeListerOptions {
  readonly nodes: NodeStore;
  /** Without `pods` their reflector does not count: usage is switched off. */
  readonly freshness: { readonly nodes: Freshness; readonly pods?: Freshness };
  /** Answers from older data are refused. Infinity: none is. */
  readonly maxStalenessMs: number;
  readonly clock: Clock;
  /** Random, one a process: versions of different processes have nothing in common. */
  readonly epoch: string;
  readonly registry: Registry;
}

/** The node list and its watches, and the parts that keep its gzip form cheap and its sums current. */
export interface RunningNodeLister extends NodeLister, NodeWatchSource, NodeAge {
  /** Deflates changed leaves between other work while gzip lists are asked for, and counts large changes of usage in. Lives until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export const createNodeLister = (options: NodeListerOptions): RunningNodeLister => new NodeCache(options);

const UNSYNCED_RETRY_SECONDS = 5;
/** An answer from older data tells its age. A watch of a healthy cluster is told something about each minute, at least a bookmark. */
const TOLD_AGE_MS = 60_000;
/** Unfiltered pages of one version that are kept: 8 MB at most, gzip forms aside. Twenty nodes of 12 kB still fit a page. */
const MOST_PAGES = 32;
const LONGEST_KEPT_PAGE_BYTES = 2 ** 18;
/** What a change of thousands of pods waits for at most before its sums are made ready. */
const COUNT_INTERVAL_MS = 100;

class NodeCache implements RunningNodeLister {
  readonly #nodes: NodeStore;
  readonly #freshness: readonly Freshness[];
  readonly #maxStalenessMs: number;
  readonly #epoch: string;
  readonly #aliasKey: string;
  readonly #clock: Clock;
  readonly #feed: NodeFeed;
  readonly #warmer: LeafWarmer;
  /** The snapshot that the kept answers below belong to. */
  #current: NodeSnapshot | undefined;
  #fullList: Representation | undefined;
  readonly #pages = new Map<string, Representation>();

  constructor(options: NodeListerOptions) {
    this.#nodes = options.nodes;
    this.#freshness = [options.freshness.nodes, ...(options.freshness.pods ? [options.freshness.pods] : [])];
    this.#maxStalenessMs = options.maxStalenessMs;
    this.#epoch = options.epoch;
    this.#clock = options.clock;
    this.#aliasKey = `${options.nodes.platform}.io/alias-name`;
    const { nodes } = options;
    this.#feed = new NodeFeed(nodes, { epoch: this.#epoch, aliasKey: this.#aliasKey, clock: options.clock });
    const warmed = { hasSynced: () => this.#hasSynced(), snapshot: () => nodes.snapshot(), renew: () => nodes.renew() };
    this.#warmer = new LeafWarmer(warmed, options.clock);
    registerCacheBytes(options.registry, () => options.nodes.heldBytes());
  }

  list(query: NodeListQuery): Representation {
    const snapshot = this.#freshSnapshot();
    if (Object.keys(query.filters).length > 0) return this.#select(snapshot, query);
    const { limit, page, sortBy, ascending } = query;
    if (limit === -1n && sortBy === 'creationTimestamp' && !ascending) return this.#full(snapshot);
    const key = `${limit} ${page} ${sortBy} ${ascending}`;
    const kept = this.#pages.get(key);
    if (kept) return kept;
    const representation = this.#select(snapshot, query);
    if (representation.length('identity') <= LONGEST_KEPT_PAGE_BYTES) this.#keepPage(key, representation);
    return representation;
  }

  get(name: string): Representation | undefined {
    const snapshot = this.#freshSnapshot();
    const entry = this.#nodes.get(name);
    return entry && this.#represent(snapshot, nodeComposer(entry.encoded));
  }

  refresh(): number {
    return this.#freshSnapshot().version;
  }

  watch(query: NodeWatchQuery, form: WatchForm): NodeWatch {
    this.#freshSnapshot();
    return this.#feed.watch(query, form);
  }

  staleSeconds(): number | undefined {
    const ageMs = this.#ageMs();
    return ageMs > TOLD_AGE_MS ? Math.floor(ageMs / 1_000) : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#warmer.run(signal), this.#count(signal)]);
  }

  /** A large change of usage is counted in whether or not anybody asks, so that none who asks finds the sums of an hour ago. */
  async #count(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await this.#clock.sleep(COUNT_INTERVAL_MS, signal)) {
      if (!this.#nodes.isCounted) this.#nodes.countUsage();
    }
  }

  /** Forgets the oldest page when there are enough. */
  #keepPage(key: string, page: Representation): void {
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size >= MOST_PAGES) this.#pages.delete(oldest);
    this.#pages.set(key, page);
  }

  #full(snapshot: NodeSnapshot): Representation {
    if (this.#fullList) return this.#fullList;
    const composer = fullListComposer(snapshot, (outcome) => this.#warmer.asked(snapshot, outcome));
    this.#fullList = this.#represent(snapshot, composer);
    return this.#fullList;
  }

  #select(snapshot: NodeSnapshot, query: NodeListQuery): Representation {
    return this.#represent(snapshot, selectionComposer(snapshot.select(query, this.#aliasKey)));
  }

  #represent({ version }: NodeSnapshot, composer: Composer): Representation {
    return new VersionedRepresentation(`${this.#epoch}-${version}`, composer, this.#nodes.slices);
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
  #freshSnapshot(): NodeSnapshot {
    if (!this.#hasSynced()) {
      throw serviceUnavailable(
        'nodes are not available: first synchronisation has not finished',
        UNSYNCED_RETRY_SECONDS,
      );
    }
    const tooOld = tooOldText('nodes', this.#ageMs(), this.#maxStalenessMs);
    if (tooOld !== undefined) throw new DataTooOld(tooOld);
    const snapshot = this.#nodes.snapshot();
    if (snapshot !== this.#current) {
      this.#current = snapshot;
      this.#fullList = undefined;
      this.#pages.clear();
    }
    return snapshot;
  }
}
