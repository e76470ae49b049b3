import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { Reflector } from '../../kubernetes/reflector/reflector.ts';
import type { RunningLister } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import type { ResourceStore } from '../../resources/entries/store.ts';
import type { HoldingWay } from '../kind-value.ts';

/** Why a kind is let go. */
export type LetGoReason = 'idle' | 'memory' | 'removed' | 'forbidden' | 'stopping';

/** How the first list of a kind ended. */
export type FirstList = 'listed' | 'too large' | 'let go';

export interface HeldKindParts {
  readonly clusterKind: ClusterKind;
  readonly way: HoldingWay;
  readonly store: ResourceStore;
  readonly lister: RunningLister;
  readonly reflector: Reflector;
  /** Settles when the first list is shown, or cannot be. */
  readonly first: Promise<FirstList>;
  /** The bytes of the objects that have come in the first list and are not shown yet. */
  arriving(): number;
  /** Monotonic milliseconds. */
  now(): number;
}

/**
 * What an entry takes besides its encoded text: the entry, its texts that filters read, its places in both orders and in the change log.
 * Measured (docs/performance.md): 940 with pods of ReplicaSets of five, 1,220 where no object shares its labels with others.
 */
const BYTES_OF_ENTRY = 1_200;

/** A kind in memory, for as long as somebody asks for it. */
export class HeldKind {
  readonly clusterKind: ClusterKind;
  readonly way: HoldingWay;
  readonly store: ResourceStore;
  readonly lister: RunningLister;
  readonly reflector: Reflector;
  readonly first: Promise<FirstList>;
  readonly #startedAt: number;
  readonly #parts: HeldKindParts;
  readonly #stopping = new AbortController();
  #usedAt: number;
  #watches = 0;

  constructor(parts: HeldKindParts) {
    this.#parts = parts;
    this.clusterKind = parts.clusterKind;
    this.way = parts.way;
    this.store = parts.store;
    this.lister = parts.lister;
    this.reflector = parts.reflector;
    this.first = parts.first;
    this.#startedAt = parts.now();
    this.#usedAt = this.#startedAt;
  }

  get kind(): Kind {
    return this.store.kind;
  }

  get hasSynced(): boolean {
    return this.reflector.hasSynced();
  }

  /** Aborts when the kind is let go: its watches end. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Bytes, by the texts that are held and a measured size of the rest. */
  get bytes(): number {
    return this.store.heldBytes() + this.store.size * BYTES_OF_ENTRY + this.#parts.arriving();
  }

  get ageMs(): number {
    return this.#parts.now() - this.#startedAt;
  }

  get isWatched(): boolean {
    return this.#watches > 0;
  }

  /** Milliseconds since the last request, 0 while there is a watch. */
  get idleMs(): number {
    return this.isWatched ? 0 : this.#parts.now() - this.#usedAt;
  }

  used(): void {
    this.#usedAt = this.#parts.now();
  }

  /** Holds the kind until the returned function is called. */
  watched(): () => void {
    this.#watches++;
    return () => {
      this.#watches--;
      this.used();
    };
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Keeps the kind current until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    await Promise.all([this.reflector.run(signal), this.lister.run(signal)]);
  }
}

/** The bytes of an entry, as `HeldKind.bytes` counts them. */
export const weightOf = (encodedLength: number): number => encodedLength + BYTES_OF_ENTRY;
