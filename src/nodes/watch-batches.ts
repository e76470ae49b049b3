import { BatchBuilder } from './batch-builder.ts';
import type { NodeChange } from './change-log.ts';
import type { NodeEntry } from './node-entry.ts';
import type { NodeStore } from './node-store.ts';
import type { WatchForm } from './watch-event.ts';

/** What of the list a watcher wants to see, and how. */
export interface WatchView {
  readonly form: WatchForm;
  /** `''`: every node. */
  readonly filterKey: string;
  matches(entry: NodeEntry): boolean;
}

/** Where a watcher stands: it had the whole list of `basis`, and was told of all changes up to `position` since. */
export interface Standing {
  readonly basis: number;
  readonly position: number;
}

export interface Batch {
  /** Whole events; empty when none of the changes are its business. */
  readonly bytes: Uint8Array;
  readonly standing: Standing;
}

/**
 * Batches that are kept while the version lasts, 4 MiB of them: those who are up to date all need the next one, and many
 * who begin together need the same ones.
 */
const MOST_BATCHES = 64;

/** Makes batches of events, each once for all who stand at the same place and see the same. */
export class WatchBatches {
  readonly #store: NodeStore;
  readonly #epoch: string;
  readonly #kept = new Map<string, Batch>();
  #keptVersion = -1;

  constructor(store: NodeStore, epoch: string) {
    this.#store = store;
    this.#epoch = epoch;
  }

  /** What follows `standing`. The basis of the result is its position as soon as nothing more follows. */
  after(standing: Standing, view: WatchView): Batch {
    return this.#once(`${standing.basis} ${standing.position}`, view, () => this.#compose(standing, view));
  }

  /** The nodes of these names from `at` on, as far as they go into one batch; `position` is where the next one begins. */
  first(names: readonly string[], { basis, position }: Standing, view: WatchView): Batch {
    return this.#once(`first ${basis} ${position}`, view, () => {
      const batch = new BatchBuilder(view.form);
      let at = position;
      for (; at < names.length && !batch.isFull; at++) {
        // Its newest state: who changed since comes once more, who went is told of then.
        const entry = this.#store.get(names[at] as string);
        if (entry && view.matches(entry)) batch.add('ADDED', entry);
      }
      return { bytes: batch.bytes(), standing: { basis, position: at } };
    });
  }

  #compose(standing: Standing, view: WatchView): Batch {
    const batch = new BatchBuilder(view.form);
    let { position } = standing;
    for (const change of this.#store.changes.since(position)) {
      if (batch.isFull) return { bytes: batch.bytes(), standing: { basis: standing.basis, position } };
      this.#add(batch, change, { standing, view });
      position = change.version;
    }
    const { version } = this.#store;
    batch.endsAt({ epoch: this.#epoch, version });
    return { bytes: batch.bytes(), standing: { basis: version, position: version } };
  }

  #add(batch: BatchBuilder, change: NodeChange, { standing, view }: { standing: Standing; view: WatchView }): void {
    const { basis, position } = standing;
    const { name, removed, addedAt, knownSince, shapedAt } = change;
    const entry = removed ?? this.#store.get(name);
    // Came and went between two batches: nobody was told that it is there.
    if (!entry || (removed && knownSince > position)) return;
    const matches = view.matches(entry);
    // It did not match at the basis either.
    if (!matches && shapedAt <= basis) return;
    const isNew = addedAt > basis || (view.filterKey !== '' && shapedAt > basis);
    batch.add(removed || !matches ? 'DELETED' : isNew ? 'ADDED' : 'MODIFIED', entry);
  }

  #once(place: string, { form, filterKey }: WatchView, make: () => Batch): Batch {
    if (this.#keptVersion !== this.#store.version || this.#kept.size >= MOST_BATCHES) this.#kept.clear();
    this.#keptVersion = this.#store.version;
    const key = `${form} ${place} ${filterKey}`;
    const batch = this.#kept.get(key) ?? make();
    this.#kept.set(key, batch);
    return batch;
  }
}
