import type { NamespacedRight } from '../../authorization/permitted-scope.ts';
import type { Representation } from '../../resources/bytes/representation.ts';
import type { RunningLister } from '../../resources/cache.ts';
import { typeOf } from '../../resources/entries/object-kind.ts';
import type { ResourceStore } from '../../resources/entries/store.ts';
import type { TimeSlices } from '../../runtime/time-slices.ts';
import { StatusError } from '../../status-error.ts';
import { qualifiedName } from '../catalog/kind-answer.ts';
import type { KindCatalog } from '../catalog/kind-catalog.ts';
import { type MatchedKind, matchedKinds, type Ranked, rankedHits, type ScannedKind, type VisibleKind } from './scan.ts';
import { type LeftOutKind, searchAnswer } from './search-body.ts';
import type { Sought } from './sought.ts';

/** A kind in memory. */
export interface SearchedList {
  readonly store: ResourceStore;
  readonly lister: Pick<RunningLister, 'refresh' | 'staleSeconds'>;
}

export interface ObjectSearchParts {
  readonly platform: string;
  /** The kinds that are always in memory. The right to each is one in our own API. */
  readonly always: readonly SearchedList[];
  readonly catalog: Pick<KindCatalog, 'kinds' | 'denied'>;
  /** The kinds that are in memory now. */
  readonly mirrors: { all(): readonly SearchedList[] };
  readonly slices: TimeSlices;
}

export interface SearchedKind extends ScannedKind {
  /** The right by which a caller may see objects. */
  readonly right: NamespacedRight;
}

/** What one search is about. It does not depend on who asks, nor for what. */
export interface SearchScope {
  readonly kinds: readonly SearchedKind[];
  /** By group and plural. */
  readonly leftOut: readonly LeftOutKind[];
  /** The age of the oldest list in seconds, if it is more than a minute. */
  readonly staleSeconds: number | undefined;
}

/** Searches all kinds in memory. It brings no kind into memory, and keeps none there. */
export class ObjectSearch {
  readonly #parts: ObjectSearchParts;

  constructor(parts: ObjectSearchParts) {
    this.#parts = parts;
  }

  /** Rejects with a 503 while the kinds of the cluster are not known. */
  async scope(): Promise<SearchScope> {
    const { always, catalog, mirrors } = this.#parts;
    const [listable, denied] = await Promise.all([catalog.kinds(), catalog.denied()]);
    const all = [...always, ...mirrors.all()];
    const inMemory = new Set(all.map(({ store }) => qualifiedName(store.kind)));
    const current = all.filter(isCurrent);
    const searched = new Set(current.map(({ store }) => qualifiedName(store.kind)));
    const reasonOf = (name: string): LeftOutKind['reason'] => (inMemory.has(name) ? 'not available' : 'not in memory');
    const missing = listable.map(qualifiedName).filter((name) => !searched.has(name));
    const refused = denied.map(qualifiedName).filter((name) => !inMemory.has(name));
    const ages = current.map(({ lister }) => lister.staleSeconds()).filter((age) => age !== undefined);
    return {
      kinds: current.map((list) => this.#searched(list)),
      leftOut: [
        ...missing.map((resource) => ({ resource, reason: reasonOf(resource) })),
        ...refused.map((resource) => ({ resource, reason: 'denied' as const })),
      ],
      staleSeconds: ages.length > 0 ? Math.max(...ages) : undefined,
    };
  }

  /** The kinds that have a match, whoever may see it. */
  async matched(kinds: readonly SearchedKind[], sought: Sought): Promise<readonly MatchedKind<SearchedKind>[]> {
    return this.#parts.slices.run(matchedKinds(kinds, sought));
  }

  /** The matches that the caller may see. */
  async ranked(
    visible: readonly VisibleKind<SearchedKind>[],
    sought: Sought,
    limit: number,
  ): Promise<Ranked<SearchedKind>> {
    return this.#parts.slices.run(rankedHits(visible, sought, limit));
  }

  answer(ranked: Ranked<SearchedKind>, scope: SearchScope): Representation {
    return searchAnswer(ranked, scope.leftOut, this.#parts.slices);
  }

  #searched({ store }: SearchedList): SearchedKind {
    const { kind } = store;
    const { group, version, resource, namespaced } = kind;
    const isOurs = this.#parts.always.some((list) => list.store === store);
    const api = isOurs ? { group: `resources.${this.#parts.platform}.io`, version: 'v1alpha3' } : { group, version };
    return {
      name: qualifiedName(kind),
      type: typeOf(kind),
      namespaced,
      leaves: store.snapshot().leaves,
      right: { verb: 'list', resource, ...api },
    };
  }
}

function isCurrent({ lister }: SearchedList): boolean {
  try {
    lister.refresh();
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
