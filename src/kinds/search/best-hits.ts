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
  readonly #worst: number;
  #kept: Hit[] = [];
  /** The last of the best, once there are enough. */
  #last: Hit | undefined;
  readonly #counts = [0, 0, 0];

  /** `worst`: hits of a worse rank are only counted. */
  constructor(limit: number, worst: number) {
    this.#limit = limit;
    this.#worst = worst;
  }

  /** How many hits there were, by rank. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  /** The worst rank that a hit in this namespace, or in one after it, may have and still be among the best now. */
  worstRank(namespace: string): number {
    if (!this.#last || namespace <= this.#last.entry.namespace)
      return Math.min(this.#worst, this.#last?.rank ?? RANKS.other);
    return Math.min(this.#worst, this.#last.rank - 1);
  }

  /** Counts a hit that is not among the best. */
  countOnly(rank: Rank): void {
    (this.#counts[rank] as number)++;
  }

  add(entry: Entry, rank: Rank): void {
    this.countOnly(rank);
    if (rank > this.#worst || (this.#last && !isBefore(entry, rank, this.#last))) return;
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

/** Below 0: the hits of `a` come before those of `b` that have the same rank. Two groups may have a kind of the same name. */
export const compareKinds = (a: OrderedKind, b: OrderedKind): number =>
  compareTexts(a.type.kind, b.type.kind) || compareTexts(a.name, b.name);

/**
 * The worst rank with which a hit of a further kind can still be among the first `limit` of all kinds. `counts`: how many hits by rank the
 * kinds before it had.
 */
export function worstRankAfter(counts: readonly number[], limit: number): number {
  let better = 0;
  for (const [rank, count] of counts.entries()) {
    better += count;
    if (better >= limit) return rank - 1;
  }
  return RANKS.other;
}

/** The first hits of all kinds together: by rank, then in the order of the kinds, then by namespace and name. */
export const firstOfAll = <Kind>(
  hitsByKind: readonly (readonly KindHit<Kind>[])[],
  limit: number,
): readonly KindHit<Kind>[] =>
  // The sort is stable.
  hitsByKind
    .flat()
    .sort((a, b) => a.rank - b.rank)
    .slice(0, limit);
