import type { Clock } from '../../runtime/clock.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';
import { allOf, dependOnOthers } from '../query/filter.ts';
import type { Watch } from './watch.ts';
import { type InitialState, WatchBatches } from './watch-batches.ts';
import type { WatchForm } from './watch-event.ts';
import type { WatchQuery } from './watch-query.ts';
import { type SentUpTo, stateText, WatchNaming, type WatchVersion } from './watch-version.ts';
import type { WatcherState } from './watch-view.ts';
import { WatchViews } from './watch-views.ts';
import { expired, Watcher, type WatcherParts } from './watcher.ts';

interface FeedOptions {
  /** The epoch in the list's ETags, random for each process. */
  readonly epoch: string;
  readonly clock: Clock;
}

/** Starts watches of a store. */
export class Feed {
  readonly #store: ResourceStore;
  readonly #options: FeedOptions;
  readonly #naming: WatchNaming;
  readonly #batches: WatchBatches;
  /** Counts the watches whose conditions depend on other objects. They share no events, because each began at another time. */
  #alone = 0;
  #kept: { readonly version: number; readonly beginnings: Map<string, InitialState> } | undefined;

  constructor(store: ResourceStore, options: FeedOptions) {
    this.#store = store;
    this.#options = options;
    this.#naming = new WatchNaming(store, options.epoch);
    this.#batches = new WatchBatches(store, this.#naming);
  }

  watch(query: WatchQuery, form: WatchForm): Watch {
    const { conditions, bookmarks, initialEvents, metadataOnly = false, within } = query;
    const { clock } = this.#options;
    const from = knownFrom(query);
    const filterKey = dependOnOthers(conditions) ? `${query.filterKey}#${++this.#alone}` : query.filterKey;
    const matches = filterKey === '' ? () => true : allOf(conditions);
    const views = new WatchViews({ form, metadataOnly, filterKey, matches }, this.#store.kind, within);
    const all = (): InitialState => this.#beginning('', () => this.#all());
    const parts = { store: this.#store, naming: this.#naming, batches: this.#batches, clock, views, bookmarks, all };
    if (initialEvents ?? from === undefined) return this.#fromAll(parts, from);
    if (!from) return new Watcher(parts, this.#stateAt(this.#store.version, true));
    return this.#from(parts, from) ?? this.#anew(parts, from);
  }

  /** Begins with the whole list, as soon as that is not older than the version that the client names. */
  #fromAll(parts: WatcherParts, from: WatchVersion | undefined): Watch {
    const awaited = from?.kind === 'cluster' ? { seen: from.seen, text: from.text } : undefined;
    const start = { isFirst: true, awaited, beginning: parts.all };
    return new Watcher(parts, this.#stateAt(this.#store.version, false), start);
  }

  #anew(parts: WatcherParts, { text }: WatchVersion): Watch {
    if (parts.views.present.form === 'json') throw expired(text);
    return this.#fromAll(parts, undefined);
  }

  /** Resumes from what the client has. `undefined` if we do not know what happened since. */
  #from(parts: WatcherParts, from: WatchVersion): Watch | undefined {
    if (from.kind === 'local') {
      const version = this.#ours(from.sentUpTo);
      if (version === undefined || !this.#store.changes.knows(version)) return undefined;
      return new Watcher(parts, this.#stateAt(version, true));
    }
    const state = from.kind === 'cluster' ? from.complete : undefined;
    if (from.kind !== 'cluster' || !state || !this.#store.progress.knowsAfter(state, from.seen)) return undefined;
    const { seen, text } = from;
    const sentUpTo = this.#ours(from.sentUpTo) ?? 0;
    const before = stateText(state) ?? text;
    const beginning = (): InitialState | undefined =>
      this.#store.progress.knowsAfter(state, seen)
        ? this.#beginning(`${before} ${sentUpTo}`, () => this.#since(state, { before, sentUpTo }))
        : undefined;
    const start = { isFirst: false, awaited: { seen, text }, beginning };
    return new Watcher(parts, this.#stateAt(this.#store.version, true), start);
  }

  /** `undefined` for a version of another process, or one that this process has not reached. */
  #ours(sentUpTo: SentUpTo | undefined): number | undefined {
    const isOurs = sentUpTo?.epoch === this.#options.epoch && sentUpTo.version <= this.#store.version;
    return isOurs ? sentUpTo.version : undefined;
  }

  #stateAt(version: number, isResumed: boolean): WatcherState {
    const isNow = version === this.#store.version;
    const complete = isNow ? this.#naming.current() : this.#naming.local(version);
    return { basis: version, position: version, newestSent: this.#store.version, complete, seen: undefined, isResumed };
  }

  /** Calls `make` once for each key and version of the store, and returns what it made. */
  #beginning(key: string, make: () => InitialState): InitialState {
    const { version } = this.#store.snapshot();
    if (this.#kept?.version !== version) this.#kept = { version, beginnings: new Map() };
    const beginning = this.#kept.beginnings.get(key) ?? make();
    this.#kept.beginnings.set(key, beginning);
    return beginning;
  }

  #all(): InitialState {
    const complete = this.#naming.current();
    const keys = this.#store.snapshot().keys();
    return { version: this.#store.version, complete, before: this.#naming.nothing(), keys };
  }

  #since(state: ListState, { before, sentUpTo }: { readonly before: string; readonly sentUpTo: number }): InitialState {
    const complete = this.#naming.current();
    const changes = this.#store.progress.changedAfter(state).filter(({ version }) => version > sentUpTo);
    const keys = changes.map(({ key }) => key);
    return { version: this.#store.version, complete, before, keys, since: { state, sentUpTo, changes } };
  }
}

/** The version that the client has. Nobody resumes with other rights than those with which the client got its objects. */
const knownFrom = ({ from, within }: WatchQuery): WatchVersion | undefined =>
  from && from.scope !== within?.id ? { kind: 'unknown', text: from.text } : from;
