import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { ObjectStore } from './object-store.ts';

interface WatchCacheParts {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  /** The longest time by which a read is behind the store. Each read is behind by a random part of it. */
  readonly lagMs: number;
}

/**
 * The state as it was a moment ago, from which the server answers reads at version 0. A real server answers them from a copy in memory
 * that follows etcd, without checking that the copy is current.
 */
export class WatchCache {
  readonly #parts: WatchCacheParts;
  #seen = 0;
  #holds = 0;

  constructor(parts: WatchCacheParts) {
    this.#parts = parts;
  }

  /** The version of a read at version 0. It does not go back, unless the store does. */
  revision(): number {
    const { store, clock, random, lagMs } = this.#parts;
    const wanted = this.#holds > 0 ? this.#seen : store.revisionAt(clock.monotonic() - random.fraction() * lagMs);
    const known = Math.max(this.#seen, wanted, store.compactedRevision);
    this.#seen = Math.min(known, store.revision);
    return this.#seen;
  }

  /** Reads see everything that is stored now, and nothing that is written later, until the returned function is called. */
  hold(): () => void {
    this.#seen = this.#parts.store.revision;
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#holds -= 1;
      isHeld = false;
    };
  }
}
