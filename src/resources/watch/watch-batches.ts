import type { Change } from '../entries/change.ts';
import type { ListState } from '../entries/collection-version.ts';
import { splitKey } from '../entries/entry.ts';
import type { ResourceStore } from '../entries/store.ts';
import {
  bookmarkEvent,
  eventPieces,
  itemObject,
  metadataObject,
  type ObjectPieces,
  ObjectTypes,
  tombstone,
} from './watch-event.ts';
import { versionIn } from './watch-scope.ts';
import { type EventVersion, seenText, type WatchNaming } from './watch-version.ts';
import { type News, newsOf, reachOf, reachSince, type WatcherState, type WatchView } from './watch-view.ts';

/** Some events that are sent together. */
export interface Batch<Place> {
  /** Whole events. Empty if the watcher wants none of the objects that the batch looked at. */
  readonly bytes: Uint8Array;
  /** Where the watcher stands after them. */
  readonly next: Place;
}

/**
 * What a stream begins with, object by object: all objects, or those that changed since the client's version. It holds
 * keys and changes only, so that slow readers keep no old objects in memory.
 */
export interface InitialState {
  /**
   * The version of the store. The client has the list of this version (`complete`) when everything is sent, if nothing
   * changed meanwhile.
   */
  readonly version: number;
  readonly complete: string;
  /** The version of the list that the client has in full until then. */
  readonly before: string;
  /** In the order of the list, or of the changes. */
  readonly keys: readonly string[];
  /** What the client has: the list of `state`, and all later changes up to the version `sentUpTo` of the store. */
  readonly since?: { readonly state: ListState; readonly sentUpTo: number; readonly changes: readonly Change[] };
}

/** The keys of the objects that a change of rights is about. */
export interface ScopeEvents {
  readonly lost: readonly string[];
  readonly gained: readonly string[];
}

/** The lists that a client has in full before and after a batch. `seen`: how new its objects may be. */
interface Wholeness {
  readonly before: string;
  readonly complete?: string;
  readonly seen?: ListState | undefined;
}

/**
 * How many batches are kept until the version changes: about 4 MiB. All watchers that are up to date need the same next
 * batch, and watchers that begin together need the same ones.
 */
const MOST_BATCHES = 64;
/** How many objects one batch looks at, 1 to 2.5 µs each: looking at all of 15,000 nodes held the event loop for 35 ms. */
const MOST_LOOKED_AT = 1_024;

/**
 * A batch of an initial state, except the last one. Any watcher with the same view can use it until one of its objects
 * changes, whatever version the watcher started at. In a busy cluster no two watchers start at the same version.
 */
interface Part {
  readonly bytes: Uint8Array;
  /** The newest change of each object that the part looked at, whether or not the watcher gets the object. */
  readonly changes: readonly (Change | undefined)[];
}

/** Makes batches of events. Watchers with the same state and the same view share a batch. */
export class WatchBatches {
  readonly #store: ResourceStore;
  readonly #naming: WatchNaming;
  readonly #types: ObjectTypes;
  readonly #kept = new Map<string, Batch<unknown>>();
  /** The parts, keyed by the object that a part begins with, the oldest first. At most `MOST_BATCHES`. */
  readonly #parts = new Map<string, Part>();
  #keptVersion = -1;

  constructor(store: ResourceStore, naming: WatchNaming) {
    this.#store = store;
    this.#naming = naming;
    this.#types = new ObjectTypes(store.kind);
  }

  /** The events that follow `state`. If no change follows the batch, the client then has the list of the store's version. */
  after(state: WatcherState, view: WatchView): Batch<WatcherState> {
    const { basis, position, newestSent, complete, seen, isResumed } = state;
    const place = `${basis} ${position} ${newestSent} ${complete} ${seen && seenText(seen)} ${isResumed}`;
    return this.#once(place, view, () => this.#compose(state, view));
  }

  /** One batch of the initial state, from its object `at` on. `next` is the object at which the following batch begins. */
  begin(beginning: InitialState, at: number, view: WatchView): Batch<number> {
    const { version, complete, before, keys, since } = beginning;
    const place = `${viewKey(view)} ${before} ${keys[at]}`;
    const part = since ? undefined : this.#parts.get(place);
    if (part && isGood(part, keys, at)) return { bytes: part.bytes, next: at + part.changes.length };
    return this.#once(`begin ${version} ${before} ${since?.sentUpTo ?? ''} ${at}`, view, () => {
      const batch = new BatchBuilder(view, this.#types);
      const changes: (Change | undefined)[] = [];
      let next = at;
      for (; next < keys.length && next < at + MOST_LOOKED_AT && !batch.isFull; next++) {
        changes.push(this.#store.changes.of(keys[next] as string));
        const news = this.#newsAt(beginning, next, view);
        if (news) batch.add(news);
      }
      const isWhole = !since && next === keys.length && this.#store.version === version;
      // Each object is sent in its newest state, which may be newer than the change for which it is sent.
      const seen = since ? this.#store.progress.seen : undefined;
      const bytes = this.#bytes(batch, isWhole ? { before, complete } : { before, seen });
      if (!since && next < keys.length) this.#keepPart(place, { bytes, changes });
      return { bytes, next };
    });
  }

  /**
   * Some of the events by which a watcher learns that its rights have changed, from the object `at` on: those that it may no longer see
   * are DELETED, those that it may see now are ADDED. `next` is the object at which the following events begin.
   */
  rescoped(
    { events: { lost, gained }, at }: { readonly events: ScopeEvents; readonly at: number },
    state: WatcherState,
    view: WatchView,
  ): Batch<number> {
    const batch = new BatchBuilder(view, this.#types);
    const end = lost.length + gained.length;
    let next = at;
    for (; next < end && next < at + MOST_LOOKED_AT && !batch.isFull; next++) {
      const isLost = next < lost.length;
      const key = (isLost ? lost[next] : gained[next - lost.length]) as string;
      const [entry, change] = [this.#store.get(key), this.#store.changes.of(key)];
      // What the filters left out was never sent. Of it the client must not even learn the name.
      const isTold = entry && (isLost ? view.had?.(entry) : view.matches(entry));
      if (!isTold || !change) continue;
      batch.add(isLost ? { change, type: 'DELETED', uid: entry.uid } : { change, type: 'ADDED', entry });
    }
    const { seen } = this.#store.progress;
    return { bytes: this.#bytes(batch, { before: state.complete, seen }), next };
  }

  #keepPart(place: string, part: Part): void {
    this.#parts.delete(place);
    const [oldest] = this.#parts.keys();
    if (oldest !== undefined && this.#parts.size >= MOST_BATCHES) this.#parts.delete(oldest);
    this.#parts.set(place, part);
  }

  /** The bookmark of a version, made once for all watchers that are up to date. */
  bookmark(version: string, { isFirst }: { readonly isFirst: boolean }, view: WatchView): Uint8Array {
    const make = (): Batch<string> => ({
      bytes: bookmarkEvent(versionIn(view.scope, version), { form: view.form, type: this.#types.of(view), isFirst }),
      next: version,
    });
    return this.#once(`bookmark ${version} ${isFirst}`, view, make).bytes;
  }

  /** The object's newest state. If the object changed after the initial state was planned, a later event repeats it. */
  #newsAt({ keys, since }: InitialState, at: number, view: WatchView): News | undefined {
    const key = keys[at] as string;
    const entry = this.#store.get(key);
    const missed = since?.changes[at];
    const change = this.#store.changes.of(key) ?? missed;
    if (!change) return undefined;
    if (since) {
      const news = newsOf(change, entry, { reach: reachSince(since.state.objects.newest), view });
      // The client gets the objects in the order of the changes that it missed. If it disconnects here, it lacks the later
      // ones, however new the state of this object is. So the event's version names the missed change.
      return news && { ...news, upTo: missed?.version };
    }
    return entry && view.matches(entry) ? { change, type: 'ADDED', entry } : undefined;
  }

  #compose(state: WatcherState, view: WatchView): Batch<WatcherState> {
    const batch = new BatchBuilder(view, this.#types);
    const reach = reachOf(state);
    const { complete: before, seen } = state;
    let { position } = state;
    let left = MOST_LOOKED_AT;
    for (const change of this.#store.changes.since(position)) {
      if (batch.isFull || left-- === 0) {
        return { bytes: this.#bytes(batch, { before, seen }), next: { ...state, position } };
      }
      const news = newsOf(change, change.removed ? undefined : this.#store.get(change.key), { reach, view });
      if (news) batch.add(news);
      position = change.version;
    }
    const { version } = this.#store;
    const complete = this.#naming.current();
    const next = { ...state, basis: version, position: version, newestSent: version, complete, seen: undefined };
    return { bytes: this.#bytes(batch, { before, seen, complete }), next };
  }

  /** `complete`: the list that the client has in full after the last event, if there is one. */
  #bytes(batch: BatchBuilder, has: Wholeness) {
    const { before, complete, seen } = has;
    return batch.bytes(({ change, upTo }, isLast) =>
      isLast && complete !== undefined
        ? this.#naming.completing(change, complete)
        : this.#naming.between(change, before, seen, upTo),
    );
  }

  #once<Place>(place: string, view: WatchView, make: () => Batch<Place>): Batch<Place> {
    if (this.#keptVersion !== this.#store.version || this.#kept.size >= MOST_BATCHES) this.#kept.clear();
    this.#keptVersion = this.#store.version;
    const key = `${viewKey(view)} ${place}`;
    const batch = (this.#kept.get(key) as Batch<Place> | undefined) ?? make();
    this.#kept.set(key, batch);
    return batch;
  }
}

/** Two views with the same key choose the same objects and send them in the same form. A filter's key has no blank. */
const viewKey = ({ form, metadataOnly, filterKey, scope = '', namespaceKey = '' }: WatchView): string =>
  `${form} ${metadataOnly} ${filterKey}~${scope}/${namespaceKey}`;

const isGood = ({ changes }: Part, keys: readonly string[], at: number): boolean =>
  at + changes.length < keys.length &&
  changes.every((change, index) => change?.isNewest && change.key === keys[at + index]);

/** What a socket buffers before it asks its writer to wait (`highWaterMark`). So a slow reader takes one batch of memory. */
const BATCH_BYTES = 64 * 1024;
/** About the length of a DELETED event. */
const REMOVAL_BYTES = 256;

/** Collects whole events, one after the other. */
export class BatchBuilder {
  readonly #view: WatchView;
  readonly #types: ObjectTypes;
  readonly #news: News[] = [];
  #length = 0;

  constructor(view: WatchView, types: ObjectTypes) {
    this.#view = view;
    this.#types = types;
  }

  get isFull(): boolean {
    return this.#length >= BATCH_BYTES;
  }

  add(news: News): void {
    this.#news.push(news);
    this.#length += this.#lengthOf(news);
  }

  #lengthOf(news: News): number {
    if (news.type === 'DELETED') return REMOVAL_BYTES;
    const { encoded } = news.entry;
    return this.#view.metadataOnly ? encoded.metadata().length : encoded.length;
  }

  /** `versionOf` returns the version of each event. After the last one the client may have another list in full. */
  bytes(versionOf: (news: News, isLast: boolean) => EventVersion): Uint8Array {
    const { form, scope } = this.#view;
    const last = this.#news.length - 1;
    return Buffer.concat(
      this.#news.flatMap((news, at) => {
        const { text: version, isResumable } = versionOf(news, at === last);
        const text = versionIn(scope, version);
        return eventPieces(news.type, this.#objectOf(news, text), { form, id: isResumable ? text : undefined });
      }),
    );
  }

  #objectOf(news: News, resourceVersion: string): ObjectPieces {
    const { members, statusKey } = this.#types;
    if (news.type === 'DELETED') {
      return tombstone({ ...splitKey(news.change.key), uid: news.uid, resourceVersion }, this.#types.of(this.#view));
    }
    if (!this.#view.metadataOnly) return itemObject(news.entry.encoded, resourceVersion, members);
    return [metadataObject(news.entry, { statusKey, resourceVersion })];
  }
}
