import { StatusError } from '../status-error.ts';
import { toNodeFilter } from './node-filter.ts';
import type { NodeStore } from './node-store.ts';
import type { NodeWatch } from './node-watch.ts';
import { type FirstState, WatchBatches } from './watch-batches.ts';
import { bookmarkEvent, COMMENT, type WatchForm } from './watch-event.ts';
import type { NodeWatchQuery } from './watch-query.ts';
import { versionText } from './watch-version.ts';
import type { Standing, WatchView } from './watch-view.ts';

/** Begins watches of a store. */
export class NodeFeed {
  readonly #store: NodeStore;
  readonly #epoch: string;
  readonly #aliasKey: string;
  readonly #batches: WatchBatches;
  #first: FirstState | undefined;

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
    if (!from) return new Watch(parts, this.#store.version, this.#firstState());
    const isOurs = from.epoch === this.#epoch && from.version <= this.#store.version;
    if (!isOurs || !this.#store.changes.knows(from.version)) throw expired(versionText(from));
    return new Watch(parts, from.version);
  }

  #firstState(): FirstState {
    const { version } = this.#store;
    if (this.#first?.version !== version) this.#first = { version, names: this.#store.snapshot().names() };
    return this.#first;
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
  /** What is left of the first state: from which node on. */
  #first: { readonly state: FirstState; readonly at: number } | undefined;
  /** The bookmark that says that a first state, or what was missed, is complete. */
  #due: 'first' | 'caught up' | undefined;

  /** Goes on from `version`, or begins with `first`. */
  constructor(parts: WatchParts, version: number, first?: FirstState) {
    this.#parts = parts;
    // Before it came back it may have been told all that happened since its bookmark.
    this.#standing = { basis: version, position: version, told: parts.store.version };
    this.#first = first && { state: first, at: 0 };
    this.#due = first ? 'first' : 'caught up';
  }

  get isBehind(): boolean {
    return this.#due !== undefined || this.#standing.position !== this.#parts.store.version;
  }

  get isBeginning(): boolean {
    return this.#due === 'first';
  }

  next(): Uint8Array | undefined {
    const first = this.#nextOfFirst();
    if (first) return first;
    const { batches, store, view } = this.#parts;
    while (!(this.#due && this.#isComplete) && this.#standing.position !== store.version) {
      if (!store.changes.knows(this.#standing.position)) throw expired(this.#version());
      const { bytes, next } = batches.after(this.#standing, view);
      this.#standing = next;
      if (bytes.length > 0) return bytes;
    }
    return this.#dueBookmark();
  }

  bookmark(): Uint8Array | undefined {
    const { basis, position } = this.#standing;
    if (!this.#parts.bookmarks || this.#first || basis !== position) return undefined;
    return this.#due === 'first' ? this.#dueBookmark() : this.#bookmark(false);
  }

  keepAlive(): Uint8Array | undefined {
    const isTold = this.#due === undefined && this.#isComplete;
    if (isTold && this.#parts.bookmarks) return this.#bookmark(false);
    return this.#parts.view.form === 'events' ? COMMENT : undefined;
  }

  /** Its reader has the list of one version, and nothing that is newer. */
  get #isComplete(): boolean {
    const { basis, position, told } = this.#standing;
    return this.#first === undefined && basis === position && told <= basis;
  }

  #nextOfFirst(): Uint8Array | undefined {
    const { batches, store, view } = this.#parts;
    while (this.#first) {
      const { state, at } = this.#first;
      const { bytes, next } = batches.first(state, at, view);
      this.#first = next < state.names.length ? { state, at: next } : undefined;
      this.#standing = { ...this.#standing, told: store.version };
      if (bytes.length > 0) return bytes;
    }
    return undefined;
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
