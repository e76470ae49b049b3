import { BatchBuilder } from './batch-builder.ts';
import { metadataObject } from './metadata-object.ts';
import type { NodeChange } from './node-change.ts';
import type { NodeEntry } from './node-entry.ts';
import type { NodeStore } from './node-store.ts';
import { bookmarkEvent, tombstone } from './watch-event.ts';
import { newsOf, type Standing, type WatchView } from './watch-view.ts';

export interface Batch<Place> {
  /** Whole events; empty when none of the changes are its business. */
  readonly bytes: Uint8Array;
  /** Where its reader stands then. */
  readonly next: Place;
}

/** The nodes at a version, in the list's order; names only, so that slow readers keep no node of the past in memory. */
export interface FirstState {
  readonly version: number;
  readonly names: readonly string[];
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
  readonly #kept = new Map<string, Batch<unknown>>();
  #keptVersion = -1;

  constructor(store: NodeStore, epoch: string) {
    this.#store = store;
    this.#epoch = epoch;
  }

  /** What follows `standing`. All of the result is one version as soon as nothing more follows: the list of it is told. */
  after(standing: Standing, view: WatchView): Batch<Standing> {
    const { basis, position, told } = standing;
    return this.#once(`${basis} ${position} ${told}`, view, () => this.#compose(standing, view));
  }

  /** The nodes of a first state from the one at `at` on, as far as they go into one batch; `next` is where it goes on. */
  first({ version, names }: FirstState, at: number, view: WatchView): Batch<number> {
    return this.#once(`first ${version} ${at}`, view, () => {
      const batch = new BatchBuilder(view.form);
      let next = at;
      for (; next < names.length && !batch.isFull; next++) {
        // Its newest state: who changed since comes once more, who went is told of then.
        const entry = this.#store.get(names[next] as string);
        if (entry && view.matches(entry)) batch.add('ADDED', this.#objectOf(entry, view));
      }
      return { bytes: batch.bytes(), next };
    });
  }

  /** The bookmark of a version: many are up to date, and are told so together. */
  bookmark(version: number, { isFirst }: { readonly isFirst: boolean }, view: WatchView): Uint8Array {
    const make = (): Batch<number> => ({
      bytes: bookmarkEvent({ epoch: this.#epoch, version }, { ...view, isFirst }),
      next: version,
    });
    return this.#once(`bookmark ${version} ${isFirst}`, view, make).bytes;
  }

  #compose(standing: Standing, view: WatchView): Batch<Standing> {
    const batch = new BatchBuilder(view.form);
    let { position } = standing;
    for (const change of this.#store.changes.since(position)) {
      if (batch.isFull) return { bytes: batch.bytes(), next: { ...standing, position } };
      this.#add(batch, change, { standing, view });
      position = change.version;
    }
    const { version } = this.#store;
    batch.endsAt({ epoch: this.#epoch, version });
    return { bytes: batch.bytes(), next: { basis: version, position: version, told: version } };
  }

  #add(batch: BatchBuilder, change: NodeChange, watcher: { standing: Standing; view: WatchView }): void {
    const { name, removed } = change;
    const entry = removed ? undefined : this.#store.get(name);
    const news = newsOf(change, entry, watcher);
    if (!news) return;
    const { resourceVersion = '' } = removed ?? entry ?? {};
    const object =
      news.type === 'DELETED'
        ? tombstone({ name, uid: news.uid, resourceVersion }, watcher.view)
        : this.#objectOf(news.entry, watcher.view);
    batch.add(news.type, object);
  }

  #objectOf(entry: NodeEntry, { metadataOnly }: WatchView): Uint8Array {
    return metadataOnly ? metadataObject(entry, this.#store.platform) : entry.encoded.bytes();
  }

  #once<Place>(place: string, { form, metadataOnly, filterKey }: WatchView, make: () => Batch<Place>): Batch<Place> {
    if (this.#keptVersion !== this.#store.version || this.#kept.size >= MOST_BATCHES) this.#kept.clear();
    this.#keptVersion = this.#store.version;
    const key = `${form} ${metadataOnly} ${place} ${filterKey}`;
    const batch = (this.#kept.get(key) as Batch<Place> | undefined) ?? make();
    this.#kept.set(key, batch);
    return batch;
  }
}
