import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from '../entries/change.ts';
import type { ListState } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';
import { newer, seenText, stateText } from './watch-version.ts';

/** The version of one event, and whether a client can go on from it. */
export interface EventVersion {
  readonly text: string;
  readonly isResumable: boolean;
}

/** A client that has no list whole cannot go on. */
const NOTHING_WHOLE = '0';

/**
 * Names what watchers are told: in the cluster's versions where they are numbers, else in those of this process. No two states of
 * one object have the same version. Whoever goes on from one, here or at another replica, misses nothing and is told nothing that
 * is older; here nothing twice either.
 */
export class WatchNaming {
  readonly #store: ResourceStore;
  readonly #epoch: string;

  constructor(store: ResourceStore, epoch: string) {
    this.#store = store;
    this.#epoch = epoch;
  }

  /** The list as it is now. */
  current(): string {
    return stateText(this.#store.progress.state) ?? this.local(this.#store.version);
  }

  /** Before the first state is told. */
  nothing(): string {
    return stateText(this.#store.progress.state) === undefined ? this.local(0) : NOTHING_WHOLE;
  }

  local(version: number): string {
    return `${this.#epoch}-${version}`;
  }

  /** Of a client that has the list of `complete` whole, and of what followed all changes up to this version of the store. */
  midway(version: number, complete: string): string {
    return this.between({ seen: this.#store.progress.seen, version }, complete, undefined).text;
  }

  /**
   * The version of an object that changed so, told to a client that has the list of `complete` whole and more to come, and perhaps
   * what is as new as `told`.
   */
  between(
    { seen, version }: Pick<Change, 'seen' | 'version'>,
    complete: string,
    told: ListState | undefined,
  ): EventVersion {
    const prefix = `${this.#epoch}-`;
    if (complete.startsWith(prefix)) {
      return { text: `${prefix}${version}-${complete.slice(prefix.length)}`, isResumable: true };
    }
    const isResumable = complete !== NOTHING_WHOLE;
    const text = this.ahead(complete, told ? newer(seen, told) : seen);
    return { text: isResumable ? `${text}-${this.#epoch}.${version}` : text, isResumable };
  }

  /** Of a client that has this list whole and may have what is as new as `told`. */
  ahead(complete: string, told: ListState): string {
    return complete.startsWith(`${this.#epoch}-`) ? complete : `${seenText(told)}-${complete}`;
  }

  /** The version of the object with which its reader has the list of `complete` whole. */
  completing({ seen }: Change, complete: string): EventVersion {
    const [objects = '', , added = ''] = complete.split('.');
    const isKnown =
      compareResourceVersions(seen.objects.newest, objects) <= 0 &&
      compareResourceVersions(seen.added.newest, added) <= 0;
    return { text: isKnown ? complete : this.ahead(complete, seen), isResumable: true };
  }
}
