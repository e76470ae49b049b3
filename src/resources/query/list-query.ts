import { BoundedMap } from '../../runtime/bounded-map.ts';
import { parseBooleanWord } from '../../runtime/text/boolean-word.ts';
import {
  invalid,
  isInteger,
  type ParameterReader,
  type ParameterReaders,
  parseInteger64,
  quoted,
  readParameters,
} from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import { CLIENT_PARAMETERS, type ClientSetting } from './client-parameters.ts';
import {
  type Condition,
  commonFilters,
  type FilterReader,
  type FilterReaders,
  notOneOf,
  type Shape,
} from './filter.ts';

/** A list request's parameters, parsed once. */
export interface ListQuery extends ClientSetting, ChosenObjects {
  /** -1: all. Exact integers up to 64 bits. */
  readonly limit: bigint;
  /** The first page is 1. */
  readonly page: bigint;
  readonly sortBy: SortKey;
  readonly ascending: boolean;
}

/** Which objects a list or a watch is about. */
export interface ChosenObjects {
  /** An object must fulfil all of them. */
  readonly conditions: readonly Condition[];
  /** Two queries of one kind with the same key choose the same objects; `''` chooses all. */
  readonly filterKey: string;
}

/** The orders in which the store keeps the objects of every kind. */
export type KeptOrder = 'name' | 'creationTimestamp';

/** An order by a value that a kind has for each object; then by name and namespace. */
export interface ValueOrder {
  /** Tells the orders of a kind apart. */
  readonly word: string;
  /** Either numbers or texts for all objects of the kind. Texts are compared by code units. */
  value(object: Ordered): number | string;
}

/** What a `ValueOrder` reads of an object. */
export interface Ordered extends Pick<Shape, 'status' | 'own'> {
  /** Milliseconds since 1970. An object without a creation time counts as the oldest. */
  readonly createdAt: number;
}

export type SortKey = KeptOrder | ValueOrder;

/** The words of `sortBy`, in the order of the error message. */
export type SortWords = ReadonlyMap<string, SortKey>;

/** The orders that only a kind with these words has. */
export const valueOrdersOf = (words: SortWords): ReadonlySet<ValueOrder> =>
  new Set([...words.values()].filter((order) => typeof order !== 'string'));

/** The words of `sortBy` that every kind has. */
export const COMMON_SORT_WORDS: SortWords = new Map([
  ['name', 'name'],
  ['createTime', 'creationTimestamp'],
  ['creationTimestamp', 'creationTimestamp'],
]);

/** What a kind adds to the parameters of all lists. */
export interface ListVocabulary {
  /** The platform's name, which begins the key of the alias annotation. */
  readonly platform: string;
  readonly sortWords: SortWords;
  /** The kind's own filters. */
  readonly filters: FilterReaders;
}

/** What one parameter sets: a condition in addition to the others, or other fields of the query. */
export type Setting = Partial<Omit<ListQuery, keyof ChosenObjects>> | FilterTerm;

/** A condition, and the text that tells it apart from the others of the kind. */
export interface FilterTerm {
  readonly condition: Condition;
  readonly key: string;
}

export const toFilterTerm = (condition: Condition, name: string, text: string): FilterTerm => ({
  condition,
  key: `${name}=${encodeURIComponent(text)}`,
});

/** All conditions of a query together. Their order makes no difference. */
export const allTerms = (terms: readonly FilterTerm[]): ChosenObjects => ({
  conditions: terms.map(({ condition }) => condition),
  filterKey: terms
    .map(({ key }) => key)
    .sort()
    .join('&'),
});

/** The query with one condition more. */
export const withTerm = (query: ListQuery, { condition, key }: FilterTerm): ListQuery => ({
  ...query,
  conditions: [...query.conditions, condition],
  filterKey: query.filterKey === '' ? key : `${query.filterKey}&${key}`,
});

/** Every parameter of the list of a kind. */
export const listParameters = ({ platform, sortWords, filters }: ListVocabulary): ParameterReaders<Setting> =>
  new Map<string, ParameterReader<Setting>>([
    ['limit', readInteger('limit')],
    ['page', readInteger('page')],
    ['sortBy', readSortBy(sortWords)],
    ['ascending', readAscending],
    ...[...commonFilters(platform), ...filters].map(([name, read]) => [name, readFilter(read)] as const),
    ...CLIENT_PARAMETERS,
    ['watch', readNoWatch],
  ]);

/** Clients repeat the same few queries. A text with its parsed query takes 2 KiB at most: 128 KiB for each kind. */
const MOST_KEPT = 64;
const LONGEST_KEPT = 256;

/**
 * Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order.
 * Remembers short texts with their parsed queries, which never change.
 */
export function createListQueryParser(vocabulary: ListVocabulary): (queryString: string) => ListQuery {
  const parameters = listParameters(vocabulary);
  const known = new BoundedMap<ListQuery>(MOST_KEPT);
  return (queryString) => {
    const before = known.get(queryString);
    if (before) return before;
    const query = parseListQuery(queryString, parameters);
    if (queryString.length <= LONGEST_KEPT) known.set(queryString, query);
    return query;
  };
}

function parseListQuery(queryString: string, parameters: ParameterReaders<Setting>): ListQuery {
  const terms: FilterTerm[] = [];
  let query: Omit<ListQuery, keyof ChosenObjects> = DEFAULTS;
  for (const setting of readParameters(queryString, parameters)) {
    if ('condition' in setting) terms.push(setting);
    else query = { ...query, ...setting };
  }
  return { ...query, ...allTerms(terms) };
}

const DEFAULTS = { limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false } as const;

const readFilter =
  (read: FilterReader): ParameterReader<Setting> =>
  (text, name) => {
    const condition = read(text, name);
    return typeof condition === 'function' ? toFilterTerm(condition, name, text) : condition;
  };

const readInteger =
  (key: 'limit' | 'page'): ParameterReader<Setting> =>
  (text, name) => {
    if (text === '') return {};
    const value = parseInteger64(text);
    if (value !== undefined) return { [key]: value };
    return invalid(name, `${quoted(text)} is not ${isInteger(text) ? 'a 64-bit' : 'an'} integer`);
  };

const readSortBy =
  (words: SortWords): ParameterReader<Setting> =>
  (text, name) => {
    if (text === '') return {};
    const sortBy = words.get(text);
    return sortBy ? { sortBy } : notOneOf(name, text, [...words.keys()]);
  };

function readAscending(text: string, name: string): Setting | StatusCause {
  const ascending = text === '' ? false : parseBooleanWord(text);
  return ascending === undefined ? invalid(name, `${quoted(text)} is not a boolean`) : { ascending };
}

/** Kubernetes' request info treats `false` and `0`, in any case, as a list, and every other value as a watch. */
function readNoWatch(text: string, name: string): Setting | StatusCause {
  return /^(?:0|false)$/i.test(text) ? {} : invalid(name, `${quoted(text)} is not false`);
}
