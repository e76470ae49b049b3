import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { FilterReaders } from '../../resources/query/filter.ts';
import { COMMON_SORT_WORDS, type SortWords } from '../../resources/query/list-query.ts';

/** What a kind adds to the words of all kinds. */
export interface KindWords {
  readonly sortWords: SortWords;
  readonly filters: FilterReaders;
  statusOf?(object: KubernetesObject): string;
  project?(object: KubernetesObject): unknown;
}

export interface WordsContext {
  readonly platform: string;
  selectorOf(namespace: string, service: string): Readonly<Record<string, string>> | undefined;
}

export function wordsOf(_: { group: string; resource: string }, __: WordsContext): KindWords {
  return { sortWords: COMMON_SORT_WORDS, filters: new Map() };
}
