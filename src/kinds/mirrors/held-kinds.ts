import type { Cluster } from '../../kubernetes/cluster.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { Logger } from '../../observability/logger.ts';
import { createLister } from '../../resources/cache.ts';
import { collectionPath } from '../../resources/entries/object-kind.ts';
import { ResourceStore } from '../../resources/entries/store.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { TimeSlices } from '../../runtime/time-slices.ts';
import { StatusError, serviceUnavailable } from '../../status-error.ts';
import { qualifiedName } from '../catalog/kind-answer.ts';
import { createKindValue, type HoldingWay } from '../kind-value.ts';
import type { KindMetrics } from '../metrics.ts';
import type { KindWords } from '../words/kind-words.ts';
import { WeighedStore } from './first-list.ts';
import { type FirstList, HeldKind, type LetGoReason } from './held-kind.ts';

export interface HeldKindsOptions {
  readonly platform: string;
  /** A kind without a request or a watch for this long is let go. */
  readonly idleMs: number;
  /** The bytes that all kinds together may have now. */
  memoryLimit(): number;
  /** Requests are refused if the data is older. Infinity: never. */
  readonly maxStalenessMs: number;
  /** The longest time between two self-checks of one kind. */
  readonly longestPeriodMs: number;
}

export interface HeldKindsParts {
  readonly cluster: Pick<Cluster, 'reflect'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly slices: TimeSlices;
  /** Distinguishes the versions of this process from those of others. At most 24 characters. */
  readonly epoch: string;
  readonly metrics: KindMetrics;
  wordsOf(kind: ClusterKind): KindWords;
  isSecret(kind: ClusterKind): boolean;
}

/** How long a first request waits for the first list. */
const FIRST_LIST_MS = 10_000;
/** How soon a request that waits sees that the cluster refuses us the kind. */
const LOOK_MS = 50;
/** How often kinds that nobody asks for are let go, and the memory is compared with its limit. */
const ROUND_MS = 5_000;
/** A kind that was refused, for memory or by the cluster, is tried again after this time. */
const REFUSED_MS = 30_000;
/** A kind that was asked for within this time is not let go to make room for another. */
const BUSY_MS = 30_000;

interface Refusal {
  readonly until: number;
  error(): StatusError;
}

/** The kinds in memory: started when they are first asked for, let go when nobody asks any more, within one limit of memory. */
export class HeldKinds {
  readonly #options: HeldKindsOptions;
  readonly #parts: HeldKindsParts;
  readonly #held = new Map<string, HeldKind>();
  /** The kinds whose first list is under way. All callers wait for the same one. */
  readonly #starting = new Map<string, Promise<HeldKind>>();
  readonly #refused = new Map<string, Refusal>();
  readonly #running = new Set<Promise<void>>();
  /** What a mirror threw, which is a bug. */
  readonly #broken = Promise.withResolvers<never>();
  #isStopping = false;
  /** How many kinds were read into memory, the same one more than once. */
  #begun = 0;

  constructor(options: HeldKindsOptions, parts: HeldKindsParts) {
    this.#options = options;
    this.#parts = parts;
    parts.metrics.expose({ held: () => this.#held.values(), limit: () => options.memoryLimit() });
    this.#broken.promise.catch(() => undefined);
  }

  /** The kind if it is in memory and its first list is there. Counts as a use. */
  held(kind: Pick<ClusterKind, 'resource' | 'group'>): HeldKind | undefined {
    const held = this.#held.get(qualifiedName(kind));
    held?.used();
    return held?.hasSynced ? held : undefined;
  }

  /** All kinds whose first list is in memory. */
  all(): HeldKind[] {
    return [...this.#held.values()].filter(({ hasSynced }) => hasSynced);
  }

  /**
   * The kind in memory, after its first list. Rejects with a 503 when that takes longer than ten seconds or the kind does not fit into the
   * memory, and with a 403 when the cluster refuses it to our own account. The list goes on when nobody waits any more. `since`: the version
   * that the caller knows; a kind that is read for it knows the changes since then, if the cluster still has them.
   */
  hold(kind: ClusterKind, since?: string): HeldKind | Promise<HeldKind> {
    const known = this.held(kind);
    if (known) return known;
    const name = qualifiedName(kind);
    const refused = this.#refused.get(name);
    if (refused && this.#parts.clock.monotonic() < refused.until) throw refused.error();
    this.#refused.delete(name);
    const starting = this.#starting.get(name) ?? this.#start(kind, since);
    this.#starting.set(name, starting);
    return this.#inTime(name, starting);
  }

  /** Lets a kind go that the cluster no longer has, or no longer in this version. */
  removed(kind: Pick<ClusterKind, 'resource' | 'group'>): void {
    const held = this.#held.get(qualifiedName(kind));
    if (held) this.#letGo(held, 'removed');
    this.#refused.delete(qualifiedName(kind));
  }

  /** Lets idle kinds go until the signal aborts, and then all. */
  async run(signal: AbortSignal): Promise<void> {
    // One race for all rounds: each would leave something behind at the promise that outlives it.
    await Promise.race([this.#rounds(signal), this.#broken.promise]);
    this.#isStopping = true;
    for (const held of [...this.#held.values()]) this.#letGo(held, 'stopping');
    await Promise.all(this.#running);
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(ROUND_MS, signal);
      this.#round();
    }
  }

  #round(): void {
    for (const held of [...this.#held.values()]) {
      if (held.idleMs > this.#options.idleMs) this.#letGo(held, 'idle');
    }
    this.#makeRoom(0, undefined);
  }

  /** Starts the kind whole, and by its fields if it does not fit. */
  async #start(kind: ClusterKind, since: string | undefined): Promise<HeldKind> {
    const name = qualifiedName(kind);
    try {
      for (const way of ['whole', 'fields'] as const) {
        const held = this.#begin(kind, way, since);
        const first = await held.first;
        if (first === 'listed') return held;
        if (first === 'let go') throw this.#refused.get(name)?.error() ?? unavailable(name);
      }
      this.#parts.metrics.refused('memory');
      throw this.#refuse(name, () => tooLarge(name));
    } finally {
      this.#starting.delete(name);
    }
  }

  #begin(clusterKind: ClusterKind, way: HoldingWay, since: string | undefined): HeldKind {
    const { cluster, clock, slices, epoch, metrics, logger, wordsOf, isSecret } = this.#parts;
    const { platform, maxStalenessMs, longestPeriodMs } = this.#options;
    const name = qualifiedName(clusterKind);
    const words = wordsOf(clusterKind);
    const kind = createKindValue(clusterKind, { platform, words, way, isSecret: isSecret(clusterKind) });
    const store = new ResourceStore(kind, slices);
    const first = Promise.withResolvers<FirstList>();
    const weighed = new WeighedStore(store, {
      fits: (bytes) => this.#makeRoom(bytes, name),
      tooLarge: () => {
        first.resolve('too large');
        this.#letGo(held, 'memory');
      },
      listed: () => first.resolve('listed'),
    });
    const collection = { path: collectionPath(kind), name, isOptional: true, isMeasured: false, since };
    const reflector = cluster.reflect(collection, weighed, { longestPeriodMs });
    const lister = createLister({
      store,
      freshness: { [name]: reflector },
      maxStalenessMs,
      clock,
      // The versions of a store begin at 0: without this, the ETags of a kind that is read again would name other objects.
      epoch: `${epoch}${(this.#begun++).toString(36)}`,
      isWarm: false,
    });
    const now = (): number => clock.monotonic();
    const arriving = (): number => weighed.arriving;
    const held: HeldKind = new HeldKind({
      clusterKind,
      way,
      store,
      lister,
      reflector,
      first: first.promise,
      arriving,
      now,
    });
    held.stopped.addEventListener('abort', () => first.resolve('let go'), { once: true });
    this.#held.set(name, held);
    metrics.started();
    logger.info({ resource: name, way }, 'a kind is read into memory');
    if (this.#isStopping) this.#letGo(held, 'stopping');
    else this.#watchRun(held);
    return held;
  }

  #watchRun(held: HeldKind): void {
    const run = held.run().catch(this.#broken.reject);
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  #letGo(held: HeldKind, reason: LetGoReason): void {
    const name = qualifiedName(held.clusterKind);
    held.stop();
    if (this.#held.get(name) !== held) return;
    this.#held.delete(name);
    this.#parts.metrics.stopped(reason);
    this.#parts.logger.info({ resource: name, reason }, 'a kind was let go from memory');
  }

  /**
   * Whether there are so many bytes for `name`. While there are not, kinds that nobody asked for lately are let go, the one first that was
   * asked for longest ago. When the kinds in memory have grown over the limit, the largest one goes too: its next request holds it by its
   * fields.
   */
  #makeRoom(wanted: number, name: string | undefined): boolean {
    const limit = this.#options.memoryLimit();
    const others = [...this.#held.values()].filter(({ clusterKind }) => qualifiedName(clusterKind) !== name);
    const byIdle = others.filter(({ idleMs }) => idleMs > BUSY_MS).sort((a, b) => b.idleMs - a.idleMs);
    let used = others.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const held of byIdle) {
      if (used + wanted <= limit) break;
      used -= held.bytes;
      this.#letGo(held, 'memory');
    }
    if (wanted === 0 && used > limit) this.#letLargestGo(others);
    return used + wanted <= limit;
  }

  #letLargestGo(all: readonly HeldKind[]): void {
    const [largest] = all.filter(({ stopped }) => !stopped.aborted).sort((a, b) => b.bytes - a.bytes);
    if (largest) this.#letGo(largest, 'memory');
  }

  /** Waits until the first list is there, the cluster refuses it, or the time is over. */
  async #inTime(name: string, starting: Promise<HeldKind>): Promise<HeldKind> {
    const { clock } = this.#parts;
    const giveUpAt = clock.monotonic() + FIRST_LIST_MS;
    const over = new AbortController();
    const look = async (): Promise<never> => {
      while (clock.monotonic() < giveUpAt && !over.signal.aborted) {
        this.#checkRight(name);
        await clock.sleep(LOOK_MS, over.signal);
      }
      throw unavailable(name);
    };
    return Promise.race([starting, look()]).finally(() => over.abort());
  }

  /** Lets the kind go if the cluster refuses our own account the right to it. Everybody gets a 403 then. */
  #checkRight(name: string): void {
    const held = this.#held.get(name);
    const missing = held?.hasSynced === false ? held.reflector.missingRight() : undefined;
    if (!held || missing === undefined) return;
    this.#parts.metrics.refused('forbidden');
    this.#refuse(name, () => forbiddenToUs(name));
    this.#letGo(held, 'forbidden');
  }

  #refuse(name: string, error: () => StatusError): StatusError {
    this.#refused.set(name, { until: this.#parts.clock.monotonic() + REFUSED_MS, error });
    return error();
  }
}

/** Seconds after which a client should ask again while a list is under way. */
const RETRY_SECONDS = 5;

const unavailable = (name: string): StatusError =>
  serviceUnavailable(`${name} are not available: first synchronisation has not finished`, RETRY_SECONDS);

const tooLarge = (name: string): StatusError =>
  serviceUnavailable(`${name} are not available: they do not fit into kinds.memory`, REFUSED_MS / 1_000);

const forbiddenToUs = (name: string): StatusError =>
  new StatusError('Forbidden', {
    message: `${name} are not available: the cluster does not let this server list and watch them`,
  });
