import { parseBooleanWord } from '../../runtime/boolean-word.ts';
import type { StatusCause } from '../../status-error.ts';
import { isInteger, parseInteger64 } from './integer64.ts';
import { quoted } from './quoted.ts';
import { invalid, type ParameterReader, type ParameterReaders, readParameters } from './read-parameters.ts';
import { parseSelector, type Selector } from './selector.ts';

export type NodeStatusWord = 'running' | 'warning' | 'unschedulable';

/** A list request's parameters, parsed once. Absent conditions match everything. */
export interface NodeListQuery {
  /** -1: all. Exact integers up to 64 bits. */
  readonly limit: bigint;
  /** From 1. */
  readonly page: bigint;
  readonly sortBy: 'name' | 'creationTimestamp';
  readonly ascending: boolean;
  readonly filters: NodeFilters;
}

export interface NodeFilters {
  readonly labelSelector?: Selector;
  readonly label?: Selector;
  readonly annotation?: Selector;
  readonly name?: string;
  readonly names?: readonly string[];
  readonly alias?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly ownerReference?: string;
  readonly ownerKind?: string;
  readonly status?: NodeStatusWord;
  /** Of a watch: what its field selector says of a node's name. */
  readonly fields?: (name: string) => boolean;
}

/** Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order. */
export function parseNodeListQuery(queryString: string): NodeListQuery {
  let query: NodeListQuery = { limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false, filters: {} };
  for (const setting of readParameters(queryString, LIST_PARAMETERS)) {
    if ('filter' in setting) query = { ...query, filters: { ...query.filters, ...setting.filter } };
    else query = { ...query, ...setting };
  }
  return query;
}

/** What one parameter sets. */
export type Setting = Partial<Omit<NodeListQuery, 'filters'>> | { readonly filter: NodeFilters };

const SORT_WORDS = new Map<string, NodeListQuery['sortBy']>([
  ['name', 'name'],
  ['createTime', 'creationTimestamp'],
  ['creationTimestamp', 'creationTimestamp'],
]);
const STATUS_WORDS: readonly NodeStatusWord[] = ['running', 'warning', 'unschedulable'];

const filter = (condition: NodeFilters): Setting => ({ filter: condition });

const readInteger =
  (key: 'limit' | 'page'): ParameterReader<Setting> =>
  (text, name) => {
    if (text === '') return {};
    const value = parseInteger64(text);
    if (value !== undefined) return { [key]: value };
    return invalid(name, `${quoted(text)} is not ${isInteger(text) ? 'a 64-bit' : 'an'} integer`);
  };

function readSortBy(text: string, name: string): Setting | StatusCause {
  if (text === '') return {};
  const sortBy = SORT_WORDS.get(text);
  return sortBy ? { sortBy } : notOneOf(name, text, [...SORT_WORDS.keys()]);
}

function readAscending(text: string, name: string): Setting | StatusCause {
  const ascending = text === '' ? false : parseBooleanWord(text);
  return ascending === undefined ? invalid(name, `${quoted(text)} is not a boolean`) : { ascending };
}

function readStatus(text: string, name: string): Setting | StatusCause {
  const status = STATUS_WORDS.find((word) => word === text);
  return status ? filter({ status }) : notOneOf(name, text, STATUS_WORDS);
}

const readSelector =
  (key: 'labelSelector' | 'label' | 'annotation'): ParameterReader<Setting> =>
  (text, name) => {
    const selector = parseSelector(text);
    return 'matches' in selector ? filter({ [key]: selector }) : invalid(name, selector.message, selector.reason);
  };

/** `false` and `0`, in any case, are what request info takes for a list; it takes all else for a watch. */
function readNoWatch(text: string, name: string): Setting | StatusCause {
  return /^(?:0|false)$/i.test(text) ? {} : invalid(name, `${quoted(text)} is not false`);
}

/** Every parameter of the node list. */
export const LIST_PARAMETERS: ParameterReaders<Setting> = new Map<string, ParameterReader<Setting>>([
  ['limit', readInteger('limit')],
  ['page', readInteger('page')],
  ['sortBy', readSortBy],
  ['ascending', readAscending],
  ['labelSelector', readSelector('labelSelector')],
  ['label', readSelector('label')],
  ['annotation', readSelector('annotation')],
  ['name', (name) => filter({ name })],
  ['names', (names) => filter({ names: names.split(',') })],
  ['alias', (alias) => filter({ alias })],
  ['uid', (uid) => filter({ uid })],
  ['namespace', (namespace) => filter({ namespace })],
  ['ownerReference', (ownerReference) => filter({ ownerReference })],
  ['ownerKind', (ownerKind) => filter({ ownerKind })],
  ['status', readStatus],
  ['watch', readNoWatch],
]);

const notOneOf = (name: string, text: string, words: readonly string[]): StatusCause =>
  invalid(name, `${quoted(text)} is not one of ${words.join(', ')}`, 'FieldValueNotSupported');
