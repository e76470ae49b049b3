import type { DocumentCondition, DocumentKind } from '../document-kind.ts';
import type { Page } from '../document-query.ts';
import { podNamesOf } from '../query/pod-names.ts';
import { LAST_SECOND, type TimeRange } from '../query/times.ts';
import type { DocumentSearch, SearchedNamespaces } from '../store/document-store.ts';
import type { Dialect } from './dialects.ts';

/** The most completions of the last word of a phrase in each index; the stores' default is 50. */
const MOST_ENDINGS = 1_000;

/** The subfield with the exact text, as the stores map every text by default. */
export const exact = (place: string): string => `${place}.keyword`;

/** A clause of the query DSL. Values of callers are only JSON values in it, never syntax. */
type Clause = Readonly<Record<string, unknown>>;

interface QueryOptions extends Pick<Dialect, 'mostClauses'> {
  readonly kind: DocumentKind;
  /** Only records up to this place in the order of time (milliseconds since 1970) are found. */
  readonly from?: number | undefined;
}

/** The `query` of a search: filter clauses without scores, at most `mostClauses` in a store that counts them. */
export const toStoreQuery = (search: DocumentSearch, options: QueryOptions): Clause => {
  const { kind, from } = options;
  const { conditions, time, namespaces } = search;
  const endings = endingsFor(search, options);
  const all = [
    ...(namespaces ? [inNamespaces(namespaces, kind)] : []),
    ...conditions.map((condition) => toClause(condition, { kind, endings })),
    ...within(time, kind),
  ];
  return { bool: { filter: all, ...(from === undefined ? {} : { must_not: [above(from, kind)] }) } };
};

/** The `sort` of a search. It also works for an index without records, which has no mapping. */
export const byTime = (
  order: Page['order'],
  { kind, dialect }: { readonly kind: DocumentKind; readonly dialect: Pick<Dialect, 'timeOrder'> },
): Clause[] => [{ [kind.time]: { order, unmapped_type: 'date', ...dialect.timeOrder } }];

/** Matches the records after this place. Records without a time come before all others. */
const above = (place: number, { time }: DocumentKind): Clause =>
  Math.abs(place) > LAST_TIME_MS ? { exists: { field: time } } : { range: { [time]: { gte: timeText(place + 1) } } };

/** One millisecond before the last time that a `Date` can hold (ECMA-262, 21.4.1.1). */
const LAST_TIME_MS = 8.64e15 - 1;

/** A `terms` clause of up to this many names counts as one clause for each name, a longer one as a single clause. */
const NAMES_APART = 16;
/** Matches white space between letters or digits, at which every analyzer of a store splits a text into words. */
const SEVERAL_WORDS = /[\p{L}\p{N}]\S*\s+\S*[\p{L}\p{N}]/u;
/** Matches at least as many words as the store's analyzer finds. */
const WORDS = /[\p{sc=Han}\p{sc=Hiragana}]|[^\s\p{P}\p{sc=Han}\p{sc=Hiragana}]+/gu;

/**
 * The most completions of each last word. In a phrase of one word every completion counts as a clause. So all phrases of one word share
 * the clauses that the rest of the query leaves.
 */
function endingsFor({ conditions, namespaces }: DocumentSearch, { kind, mostClauses, from }: QueryOptions): number {
  const placesOf = ({ field }: Pick<DocumentCondition, 'field'>): number => kind.fields[field]?.length ?? 1;
  const { whole = [], young = [] } = namespaces ?? {};
  const inPlaces = placesOf({ field: kind.namespace });
  let others = (from === undefined ? 1 : 2) + inPlaces * (Math.min(whole.length, NAMES_APART) + 2 * young.length);
  let phrases = 0;
  for (const condition of conditions) {
    const { match, values } = condition;
    const places = placesOf(condition);
    const areNames = match === 'exact' || match === 'number';
    if (match !== 'phrase') others += places * (areNames ? Math.min(values.length, NAMES_APART) : values.length);
    else
      for (const text of values)
        if (SEVERAL_WORDS.test(text)) others += places * (text.match(WORDS)?.length ?? 0);
        else phrases += places;
  }
  const room = Math.floor((mostClauses - others) / Math.max(phrases, 1));
  return Math.min(MOST_ENDINGS, Math.max(room, 1));
}

/** A clause for any of the values in any of the places of the field. */
function toClause(
  { field, match, values }: DocumentCondition,
  { kind, endings }: { readonly kind: DocumentKind; readonly endings: number },
): Clause {
  const clauses = (kind.fields[field] ?? []).flatMap((place) => {
    switch (match) {
      case 'exact':
        return [oneOf(values, place)];
      case 'number':
        return [{ terms: { [place]: values.map(Number) } }];
      case 'part':
        return values.map((part) => ({ wildcard: { [exact(place)]: { value: `*${literal(part)}*` } } }));
      case 'workload':
        return values.map((name) => ({ regexp: { [exact(place)]: { value: podNamesOf(name) } } }));
      case 'phrase':
        return values.map((query) => ({ match_phrase_prefix: { [place]: { query, max_expansions: endings } } }));
      default:
        return match satisfies never;
    }
  });
  const [only] = clauses;
  return only && clauses.length === 1 && (match === 'exact' || match === 'number') ? only : anyOf(clauses);
}

/** Escapes what is syntax in a `wildcard` clause. */
const literal = (part: string): string => part.replaceAll(/[*?\\]/g, '\\$&');

const oneOf = (names: readonly string[], place: string): Clause => ({ terms: { [exact(place)]: names } });

const anyOf = (clauses: readonly Clause[]): Clause => ({ bool: { should: clauses, minimum_should_match: 1 } });

function inNamespaces({ whole, young }: SearchedNamespaces, kind: DocumentKind): Clause {
  const since = ({ since }: SearchedNamespaces['young'][number]): Clause => ({
    range: { [kind.time]: { gte: timeText(since) } },
  });
  return anyOf(
    (kind.fields[kind.namespace] ?? []).flatMap((place) => [
      ...(whole.length === 0 ? [] : [oneOf(whole, place)]),
      ...young.map((one) => ({ bool: { filter: [{ term: { [exact(place)]: one.name } }, since(one)] } })),
    ]),
  );
}

/**
 * Matches times within the range, which includes its whole last second. It uses `lt` with the next second. With `lte` the stores would
 * round up a time without a fraction, but not a time in milliseconds.
 */
function within({ start, end }: TimeRange, kind: DocumentKind): Clause[] {
  if (start === undefined && end === undefined) return [];
  const after = start === undefined ? {} : { gte: timeText(start * 1_000) };
  // The stores cannot parse a time in the year 10000, and have no records of it.
  const before = end === undefined || end >= LAST_SECOND ? {} : { lt: timeText((end + 1) * 1_000) };
  return [{ range: { [kind.time]: { ...after, ...before } } }];
}

/** RFC 3339 with milliseconds. Epoch milliseconds before 1970 are refused by some stores. */
const timeText = (ms: number): string => new Date(ms).toISOString();
