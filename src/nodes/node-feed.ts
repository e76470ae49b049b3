import { StatusError } from '../status-error.ts';
import { toNodeFilter } from './node-filter.ts';
import type { NodeStore } from './node-store.ts';
import type { NodeWatch } from './node-watch.ts';
import { type Standing, WatchBatches, type WatchView } from './watch-batches.ts';
import { bookmarkEvent, COMMENT, type WatchForm } from './watch-event.ts';
import type { NodeWatchQuery } from './watch-query.ts';
import { versionText } from './watch-version.ts';

/** Begins watches of a store. */
export class NodeFeed {
  readonly #store: NodeStore;
  readonly #epoch: string;
  readonly #aliasKey: string;
  readonly #batches: WatchBatches;
  #names: { readonly version: number; readonly names: readonly string[] } | undefined;

  /** `epoch`: as in the list's tags. */
  constructor(store: NodeStore, { epoch, aliasKey }: { readonly epoch: string; readonly aliasKey: string }) {
    this.#store = store;
    this.#epoch = epoch;
    this.#aliasKey = aliasKey;
    this.#batches = new WatchBatches(store, epoch);
  }

  watch(query: NodeWatchQuery, form: WatchForm): NodeWatch {
    const { filters, filterKey, bookmarks, from } = query;
    const matches = filterKey === '' ? () => true : toNodeFilter(filters, this.#aliasKey);
    const view = { form, filterKey, matches };
    const parts = { store: this.#store, epoch: this.#epoch, batches: this.#batches, view, bookmarks };
    if (!from) return new Watch(parts, this.#store.version, this.#allNames());
    const isOurs = from.epoch === this.#epoch && from.version <= this.#store.version;
    if (!isOurs || !this.#store.changes.knows(from.version)) throw expired(versionText(from));
    return new Watch(parts, from.version);
  }

  /** In the list's order; names only, so that who takes long for them keeps no node of the past in memory. */
  #allNames(): readonly string[] {
    const { version } = this.#store;
    if (this.#names?.version !== version) this.#names = { version, names: this.#store.snapshot().names() };
    return this.#names.names;
  }
}

interface WatchParts {
  readonly store: NodeStore;
  readonly epoch: string;
  readonly batches: WatchBatches;
  readonly view: WatchView;
  readonly bookmarks: boolean;
}

class Watch implements NodeWatch {
  readonly #parts: WatchParts;
  #standing: Standing;
  /** The names of the first state and where it goes on, until all of it is told. */
  #first: { readonly names: readonly string[]; readonly at: number } | undefined;
  /** The bookmark that says that a first state, or what was missed, is complete. */
  #due: 'first' | 'caught up' | undefined;

  constructor(parts: WatchParts, version: number, names?: readonly string[]) {
    this.#parts = parts;
    this.#standing = { basis: version, position: version };
    this.#first = names && { names, at: 0 };
    this.#due = names ? 'first' : 'caught up';
  }

  get isBehind(): boolean {
    return this.#due !== undefined || this.#standing.position !== this.#parts.store.version;
  }

  next(): Uint8Array | undefined {
    const { batches, store, view } = this.#parts;
    while (this.#first) {
      const { names, at } = this.#first;
      const { bytes, standing } = batches.first(names, { ...this.#standing, position: at }, view);
      this.#first = standing.position < names.length ? { names, at: standing.position } : undefined;
      if (bytes.length > 0) return bytes;
    }
    if (this.#due === 'first') return this.#dueBookmark();
    while (this.#standing.position !== store.version) {
      if (!store.changes.knows(this.#standing.position)) throw expired(this.#version());
      const { bytes, standing } = batches.after(this.#standing, view);
      this.#standing = standing;
      if (bytes.length > 0) return bytes;
    }
    return this.#dueBookmark();
  }

  keepAlive(): Uint8Array | undefined {
    const isComplete = this.#due === undefined && this.#standing.basis === this.#standing.position;
    if (isComplete && this.#parts.bookmarks) return this.#bookmark(false);
    return this.#parts.view.form === 'events' ? COMMENT : undefined;
  }

  #dueBookmark(): Uint8Array | undefined {
    const due = this.#due;
    this.#due = undefined;
    return due && this.#parts.bookmarks ? this.#bookmark(due === 'first') : undefined;
  }

  #bookmark(isFirst: boolean): Uint8Array {
    const { epoch, view } = this.#parts;
    return bookmarkEvent({ epoch, version: this.#standing.basis }, view.form, { isFirst });
  }

  #version(): string {
    return versionText({ epoch: this.#parts.epoch, version: this.#standing.position });
  }
}

/** As the API server says it: whoever reads this begins anew without a version. */
const expired = (version: string): StatusError =>
  new StatusError({
    code: 410,
    reason: 'Expired',
    message: `too old resource version: ${version}: begin again without one`,
  });
