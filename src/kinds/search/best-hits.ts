import type { Entry } from '../../resources/entries/entry.ts';
import { RANKS, type Rank } from './sought.ts';

/** An object that was found. */
export interface Hit {
  readonly entry: Entry;
  readonly rank: Rank;
}

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Below 0: `a` comes first. Never 0 for two objects of a kind. */
const compareHits = (a: Hit, b: Hit): number =>
  a.rank - b.rank || compareTexts(a.entry.namespace, b.entry.namespace) || compareTexts(a.entry.name, b.entry.name);

/** Counts the hits of one kind and keeps the best of them: by rank, then namespace, then name. */
export class BestHits {
  readonly #limit: number;
  #kept: Hit[] = [];
  /** The last of the best, once there are enough. */
  #last: Hit | undefined;
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  /** The worst rank that a hit in this namespace, or in one after it, may have and still be among the best now. */
  worstRank(namespace: string): number {
    if (this.#limit === 0) return RANKS.exact - 1;
    if (!this.#last) return RANKS.other;
    return namespace <= this.#last.entry.namespace ? this.#last.rank : this.#last.rank - 1;
  }

  /** Counts a hit that is not among the best. */
  countOnly(): void {
    this.#count++;
  }

  add(entry: Entry, rank: Rank): void {
    this.#count++;
    if (this.#limit === 0 || (this.#last && !isBefore(entry, rank, this.#last))) return;
    this.#kept.push({ entry, rank });
    if (this.#kept.length >= 2 * this.#limit) this.#cut();
  }

  /** The best, in order. */
  best(): readonly Hit[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort(compareHits);
    this.#kept.length = Math.min(this.#kept.length, this.#limit);
    if (this.#kept.length === this.#limit) this.#last = this.#kept.at(-1);
  }
}

/** As `compareHits`, without making a hit of what will not be kept. */
function isBefore(entry: Entry, rank: Rank, last: Hit): boolean {
  if (rank !== last.rank) return rank < last.rank;
  const { namespace } = last.entry;
  return entry.namespace === namespace ? entry.name < last.entry.name : entry.namespace < namespace;
}

/** A hit with the kind that it is of. */
export interface KindHit<Kind> extends Hit {
  readonly kind: Kind;
}

interface OrderedKind {
  readonly name: string;
  readonly type: { readonly kind: string };
}

/** The first hits of all kinds together: by rank, then kind, then namespace, then name. */
export function firstOfAll<Kind extends OrderedKind>(
  kinds: readonly { readonly kind: Kind; readonly hits: readonly Hit[] }[],
  limit: number,
): readonly KindHit<Kind>[] {
  return kinds
    .flatMap(({ kind, hits }) => hits.map(({ entry, rank }) => ({ kind, entry, rank })))
    .sort((a, b) => a.rank - b.rank || compareKinds(a.kind, b.kind) || compareHits(a, b))
    .slice(0, limit);
}

/** Two groups may have a kind of the same name. */
const compareKinds = (a: OrderedKind, b: OrderedKind): number =>
  compareTexts(a.type.kind, b.type.kind) || compareTexts(a.name, b.name);
