import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { Leaf } from './leaf.ts';

/** The leaves of one version. */
interface Leaves {
  readonly version: number;
  readonly leaves: readonly Leaf[];
}

/** What the warmer needs of the cache. */
export interface WarmedCache {
  /** False before the first sync: what is there now will not be sent. */
  hasSynced(): boolean;
  snapshot(): Leaves;
  /** A new version of the same content. */
  renew(): void;
}

/** Short, so that a list finds few leaves to deflate even at 100 changes a second: then about ten. */
const PASS_INTERVAL_MS = 100;
/** Who asks for a compressed list is likely to do so again. Nobody asking, nothing is deflated. */
const DEMAND_MS = 60_000;

/** Deflates changed leaves ahead of the requests, one between two turns of the loop. */
export class LeafWarmer {
  readonly #cache: WarmedCache;
  readonly #clock: Clock;
  #askedAt: number;
  /** The version whose gzip list went out partly uncompressed. */
  #storedVersion: number | undefined;

  constructor(cache: WarmedCache, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
    // The first list after the start is taken to be compressed.
    this.#askedAt = clock.monotonic();
  }

  /** Called when a gzip list is composed. */
  asked(snapshot: Pick<Leaves, 'version'>, { partlyStored }: { partlyStored: boolean }): void {
    this.#askedAt = this.#clock.monotonic();
    if (partlyStored) this.#storedVersion = snapshot.version;
  }

  /** Lives until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isWanted = this.#clock.monotonic() - this.#askedAt <= DEMAND_MS;
      if (isWanted && this.#cache.hasSynced()) await this.#pass(signal);
      await this.#clock.sleep(PASS_INTERVAL_MS, signal);
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const snapshot = this.#cache.snapshot();
    for (const leaf of snapshot.leaves) {
      if (signal.aborted) return;
      if (leaf.isDeflated) continue;
      leaf.deflated();
      await setImmediate();
    }
    // What was sent under a tag stays so: the small form of the same content needs a tag of its own.
    if (this.#storedVersion === this.#cache.snapshot().version) this.#cache.renew();
    this.#storedVersion = undefined;
  }
}
