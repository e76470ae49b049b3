import type { Change } from '../entries/change.ts';
import type { ListState } from '../entries/collection-version.ts';
import { placeOf } from '../entries/entry.ts';
import type { Kind } from '../entries/kind.ts';
import { typeMembers, typeOf } from '../entries/object-kind.ts';
import type { ResourceStore } from '../entries/store.ts';
import { METADATA_TYPE, metadataObject } from './metadata-object.ts';
import {
  bookmarkEvent,
  eventPieces,
  itemObject,
  type ObjectPieces,
  type ObjectType,
  tombstone,
} from './watch-event.ts';
import type { EventVersion, WatchNaming } from './watch-naming.ts';
import { seenText } from './watch-version.ts';
import { type News, newsOf, reachOf, reachSince, type Standing, type WatchView } from './watch-view.ts';

export interface Batch<Place> {
  /** Whole events; empty when none of the changes are its business. */
  readonly bytes: Uint8Array;
  /** Where its reader stands then. */
  readonly next: Place;
}

/**
 * What a stream begins with, object by object: all of them, or those that changed since the client's version. Keys and changes
 * only, so that slow readers keep no object of the past in memory.
 */
export interface Beginning {
  /** The version of the store, and of the list, that its reader has when all is told and nothing changed meanwhile. */
  readonly version: number;
  readonly complete: string;
  /** What its reader has whole until then. */
  readonly before: string;
  /** In the order of the list, or in that of the changes. */
  readonly keys: readonly string[];
  /** What the client has; of what followed it was told all up to this version of the store. */
  readonly since?: { readonly state: ListState; readonly told: number; readonly changes: readonly Change[] };
}

/** What the reader of a batch has whole before it and after it, and how new what it was told may be. */
interface Wholeness {
  readonly before: string;
  readonly complete?: string;
  readonly seen?: ListState | undefined;
}

/**
 * Batches that are kept while the version lasts, 4 MiB of them: those who are up to date all need the next one, and many
 * who begin together need the same ones.
 */
const MOST_BATCHES = 64;

/** Makes batches of events, each once for all who stand at the same place and see the same. */
export class WatchBatches {
  readonly #store: ResourceStore;
  readonly #naming: WatchNaming;
  readonly #types: ObjectTypes;
  readonly #kept = new Map<string, Batch<unknown>>();
  #keptVersion = -1;

  constructor(store: ResourceStore, naming: WatchNaming) {
    this.#store = store;
    this.#naming = naming;
    this.#types = new ObjectTypes(store.kind);
  }

  /** What follows `standing`. All of the result is one version as soon as nothing more follows: the list of it is told. */
  after(standing: Standing, view: WatchView): Batch<Standing> {
    const { basis, position, told, complete, seen, isResumed } = standing;
    const place = `${basis} ${position} ${told} ${complete} ${seen && seenText(seen)} ${isResumed}`;
    return this.#once(place, view, () => this.#compose(standing, view));
  }

  /** What a stream begins with, from `at` on, as far as it goes into one batch; `next` is where it goes on. */
  begin(beginning: Beginning, at: number, view: WatchView): Batch<number> {
    const { version, complete, before, keys, since } = beginning;
    return this.#once(`begin ${version} ${before} ${since?.told ?? ''} ${at}`, view, () => {
      const batch = new BatchBuilder(view, this.#types);
      let next = at;
      for (; next < keys.length && !batch.isFull; next++) {
        const news = this.#newsAt(beginning, next, view);
        if (news) batch.add(news);
      }
      const isWhole = !since && next === keys.length && this.#store.version === version;
      // In the order of the changes, but each object in its newest state.
      const seen = since ? this.#store.progress.seen : undefined;
      return { bytes: this.#bytes(batch, isWhole ? { before, complete } : { before, seen }), next };
    });
  }

  /** The bookmark of a version: many are up to date, and are told so together. */
  bookmark(version: string, { isFirst }: { readonly isFirst: boolean }, view: WatchView): Uint8Array {
    const make = (): Batch<string> => ({
      bytes: bookmarkEvent(version, { form: view.form, type: this.#types.of(view), isFirst }),
      next: version,
    });
    return this.#once(`bookmark ${version} ${isFirst}`, view, make).bytes;
  }

  /** Its newest state: an object that changed since comes once more, one that went is told of then. */
  #newsAt({ keys, since }: Beginning, at: number, view: WatchView): News | undefined {
    const key = keys[at] as string;
    const entry = this.#store.get(key);
    const change = this.#store.changes.of(key) ?? since?.changes[at];
    if (!change) return undefined;
    if (since) return newsOf(change, entry, { reach: reachSince(since.state.objects.newest), view });
    return entry && view.matches(entry) ? { change, type: 'ADDED', entry } : undefined;
  }

  #compose(standing: Standing, view: WatchView): Batch<Standing> {
    const batch = new BatchBuilder(view, this.#types);
    const reach = reachOf(standing);
    const { complete: before, seen } = standing;
    let { position } = standing;
    for (const change of this.#store.changes.since(position)) {
      if (batch.isFull) {
        return { bytes: this.#bytes(batch, { before, seen }), next: { ...standing, position } };
      }
      const news = newsOf(change, change.removed ? undefined : this.#store.get(change.key), { reach, view });
      if (news) batch.add(news);
      position = change.version;
    }
    const { version } = this.#store;
    const complete = this.#naming.current();
    const next = { ...standing, basis: version, position: version, told: version, complete, seen: undefined };
    return { bytes: this.#bytes(batch, { before, seen, complete }), next };
  }

  /** With the last event its reader has `complete` whole, where that is given. */
  #bytes(batch: BatchBuilder, has: Wholeness) {
    const { before, complete, seen } = has;
    return batch.bytes(({ change }, isLast) =>
      isLast && complete !== undefined
        ? this.#naming.completing(change, complete)
        : this.#naming.between(change, before, seen),
    );
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

/** As much as a socket takes without holding its writer back (`highWaterMark`): a slow reader costs one of these. */
const BATCH_BYTES = 64 * 1024;
/** A removal, about. */
const REMOVAL_BYTES = 256;

/** Whole events, one behind the other. */
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

  /** `versionOf` names each; the last is the one after which its reader is further than before. */
  bytes(versionOf: (news: News, isLast: boolean) => EventVersion): Uint8Array {
    const { form } = this.#view;
    const last = this.#news.length - 1;
    return Buffer.concat(
      this.#news.flatMap((news, at) => {
        const { text, isResumable } = versionOf(news, at === last);
        return eventPieces(news.type, this.#objectOf(news, text), { form, id: isResumable ? text : undefined });
      }),
    );
  }

  #objectOf(news: News, resourceVersion: string): ObjectPieces {
    const { members, statusKey } = this.#types;
    if (news.type === 'DELETED') {
      return tombstone({ ...placeOf(news.change.key), uid: news.uid, resourceVersion }, this.#types.of(this.#view));
    }
    if (!this.#view.metadataOnly) return itemObject(news.entry.encoded, resourceVersion, members);
    return [metadataObject(news.entry, { statusKey, resourceVersion })];
  }
}

/** How the objects of events say what they are. */
class ObjectTypes {
  /** In front of a whole object. */
  readonly members: Uint8Array;
  readonly statusKey: string | undefined;
  readonly #whole: ObjectType;

  constructor(kind: Kind) {
    this.members = typeMembers(kind);
    this.statusKey = kind.statusKey;
    this.#whole = typeOf(kind);
  }

  of({ metadataOnly }: WatchView): ObjectType {
    return metadataOnly ? METADATA_TYPE : this.#whole;
  }
}
