import { StatusError } from '../status-error.ts';
import { toNodeFilter } from './node-filter.ts';
import type { NodeStore } from './node-store.ts';
import type { NodeWatch } from './node-watch.ts';
import { type FirstState, WatchBatches } from './watch-batches.ts';
import { COMMENT, RESET, type WatchForm } from './watch-event.ts';
import type { NodeWatchQuery } from './watch-query.ts';
import { versionText, type WatchVersion } from './watch-version.ts';
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
    const { filters, filterKey, bookmarks, from, metadataOnly = false } = query;
    const matches = filterKey === '' ? () => true : toNodeFilter(filters, this.#aliasKey);
    const view = { form, metadataOnly, filterKey, matches };
    const firstState = (): FirstState => this.#firstState();
    const parts = { store: this.#store, epoch: this.#epoch, batches: this.#batches, firstState, view, bookmarks };
    if (from && this.#knows(from)) return new Watch(parts, from.version);
    if (from && form === 'json') throw expired(versionText(from));
    return new Watch(parts);
  }

  #knows({ epoch, version }: WatchVersion): boolean {
    return epoch === this.#epoch && version <= this.#store.version && this.#store.changes.knows(version);
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
  /** Of the version that the store has. */
  firstState(): FirstState;
}

class Watch implements NodeWatch {
  readonly #parts: WatchParts;
  #standing: Standing;
  /** What is left of the first state: from which node on. */
  #first: { readonly state: FirstState; readonly at: number } | undefined;
  /** The bookmark that says that a first state, or what was missed, is complete. */
  #due: 'first' | 'caught up' | undefined = 'caught up';
  /** Its reader is to be told to forget what it has. */
  #isReset = false;

  /** Goes on from `version`; without one it begins with a first state. */
  constructor(parts: WatchParts, version?: number) {
    this.#parts = parts;
    // Before it came back it may have been told all that happened since its bookmark.
    const told = parts.store.version;
    this.#standing = { basis: version ?? told, position: version ?? told, told };
    if (version === undefined) this.#begin();
  }

  #begin(): void {
    const { view, firstState } = this.#parts;
    const state = firstState();
    this.#standing = { basis: state.version, position: state.version, told: state.version };
    this.#first = { state, at: 0 };
    this.#due = 'first';
    this.#isReset = view.form === 'events';
  }

  get isBehind(): boolean {
    return this.#due !== undefined || this.#standing.position !== this.#parts.store.version;
  }

  get isBeginning(): boolean {
    return this.#first !== undefined;
  }

  next(): Uint8Array | undefined {
    return this.#takeReset() ?? this.#nextOfFirst() ?? this.#nextOfChanges() ?? this.#dueBookmark();
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

  #takeReset(): Uint8Array | undefined {
    const reset = this.#isReset ? RESET : undefined;
    this.#isReset = false;
    return reset;
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

  #nextOfChanges(): Uint8Array | undefined {
    const { batches, store, view } = this.#parts;
    while (!(this.#due && this.#isComplete) && this.#standing.position !== store.version) {
      if (!store.changes.knows(this.#standing.position)) return this.#beginAnew();
      const { bytes, next } = batches.after(this.#standing, view);
      this.#standing = next;
      if (bytes.length > 0) return bytes;
    }
    return undefined;
  }

  /** Removals that it was not told of are forgotten: it begins anew, on a new connection where that is its client's to do. */
  #beginAnew(): Uint8Array | undefined {
    const { epoch, view } = this.#parts;
    if (view.form === 'json') throw expired(versionText({ epoch, version: this.#standing.position }));
    this.#begin();
    return this.#takeReset();
  }

  #dueBookmark(): Uint8Array | undefined {
    const due = this.#due;
    this.#due = undefined;
    return due && this.#parts.bookmarks ? this.#bookmark(due === 'first') : undefined;
  }

  #bookmark(isFirst: boolean): Uint8Array {
    const { batches, view } = this.#parts;
    return batches.bookmark(this.#standing.basis, { isFirst }, view);
  }
}

/** As the API server says it: whoever reads this begins anew without a version. */
const expired = (version: string): StatusError =>
  new StatusError({
    code: 410,
    reason: 'Expired',
    message: `too old resource version: ${version}: begin again without one`,
  });
