import type { Leaf } from '../../resources/bytes/leaf.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import { placeOf, type Within } from '../../resources/query/within.ts';
import { derived } from '../../runtime/derived.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import { BestHits, compareKinds, firstOfAll, type KindHit, worstRankAfter } from './best-hits.ts';
import { LeafIndex, type Visit } from './leaf-index.ts';
import type { Sought } from './sought.ts';

/** The objects of a kind at one moment. */
export interface ScannedKind {
  /** `pods`, `deployments.apps`. */
  readonly name: string;
  readonly type: { readonly kind: string; readonly apiVersion: string };
  readonly namespaced: boolean;
  readonly leaves: readonly Leaf<Entry>[];
}

/** A kind of which an object matches, whether the caller may see it or not. */
export interface MatchedKind<Kind extends ScannedKind> {
  readonly kind: Kind;
  /** How many leaves, in the order in which they are visited, have no match. */
  readonly skipped: number;
}

/** A kind of which the caller may see objects. */
export interface VisibleKind<Kind extends ScannedKind> extends MatchedKind<Kind> {
  /** `undefined`: all. */
  readonly within: Within | undefined;
}

export interface Ranked<Kind extends ScannedKind> {
  /** In order, at most as many as were asked for. */
  readonly hits: readonly KindHit<Kind>[];
  /** All matches that the caller may see, by the kind's name. A kind without one is absent. */
  readonly totals: ReadonlyMap<string, number>;
}

/** So many leaves are visited in a step: 30 µs, and 2 ms where their indexes are made. */
const LEAVES_A_STEP = 16;

const indexOf = derived(({ entries }: Leaf<Entry>) => new LeafIndex(entries));

/** The kinds that have a match. Each is looked at up to its first match only. */
export function* matchedKinds<Kind extends ScannedKind>(
  kinds: readonly Kind[],
  sought: Sought,
): Steps<readonly MatchedKind<Kind>[]> {
  const matched: MatchedKind<Kind>[] = [];
  for (const kind of kinds) {
    const leafAt = spread(kind.leaves);
    for (let at = 0; at < kind.leaves.length; at++) {
      if (at % LEAVES_A_STEP === 0) yield;
      if (!indexOf(leafAt(at)).has(sought)) continue;
      matched.push({ kind, skipped: at });
      break;
    }
  }
  return matched;
}

/** Counts the matches that the caller may see, and finds the first of them. */
export function* rankedHits<Kind extends ScannedKind>(
  visible: readonly VisibleKind<Kind>[],
  sought: Sought,
  limit: number,
): Steps<Ranked<Kind>> {
  const totals = new Map<string, number>();
  const counts = [0, 0, 0];
  const hits: (readonly KindHit<Kind>[])[] = [];
  for (const one of visible.toSorted((a, b) => compareKinds(a.kind, b.kind))) {
    const { kind } = one;
    const best = new BestHits(limit, worstRankAfter(counts, limit));
    yield* scan(one, sought, best);
    const total = best.counts.reduce((sum, count) => sum + count, 0);
    if (total > 0) totals.set(kind.name, total);
    hits.push(best.best().map(({ entry, rank }) => ({ kind, entry, rank })));
    for (const [rank, count] of best.counts.entries()) counts[rank] = (counts[rank] ?? 0) + count;
  }
  return { hits: firstOfAll(hits, limit), totals };
}

function* scan<Kind extends ScannedKind>(
  { kind, skipped, within }: VisibleKind<Kind>,
  sought: Sought,
  best: BestHits,
): Steps<void> {
  const place = placeOf(kind);
  const leafAt = spread(kind.leaves);
  // One function for all leaves: one for each would be most of what a search allocates.
  let entries: readonly Entry[] = [];
  let worstRank = -1;
  const visit: Visit = (hitAt, rank) => {
    if (within && !within.names.has(place(entries[hitAt] as Entry))) return;
    if (rank > worstRank) best.countOnly(rank);
    else best.add(entries[hitAt] as Entry, rank);
  };
  for (let at = skipped; at < kind.leaves.length; at++) {
    if (at % LEAVES_A_STEP === 0) yield;
    const index = indexOf(leafAt(at));
    entries = index.entries;
    worstRank = best.worstRank(index.leastNamespace);
    index.each(sought, visit);
  }
}

const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/**
 * An order in which all leaves are visited, spread evenly over the list. The list is in the order of creation, and so often in that of the
 * names, ascending or descending; if each match were better than those before it, all of them would have to be kept and sorted for a while.
 */
function spread<Item>(items: readonly Item[]): (at: number) => Item {
  const { length } = items;
  let stride = Math.max(1, Math.round(length * GOLDEN_RATIO));
  while (commonDivisor(stride, length) > 1) stride++;
  return (at) => items[(at * stride) % length] as Item;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
