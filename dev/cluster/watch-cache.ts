import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { ObjectStore } from './object-store.ts';

interface WatchCacheParts {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  /** The longest time by which a read is behind; each read is behind by a part of it that chance chooses. */
  readonly lagMs: number;
}

/**
 * What the server answers reads at version 0 from: the state as it was a moment ago. A real server has a copy in its memory that
 * follows etcd, and does not ask etcd whether it has everything.
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

  /** Everything that is stored now is seen, and nothing that is written later, until the returned function is called. */
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
