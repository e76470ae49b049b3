import type { Kind } from '../../resources/entries/kind.ts';
import { COMMON_SORT_WORDS, type SortWords } from '../../resources/query/list-query.ts';

/** The words that a kind adds to the parameters of every list, and what they read of its objects. */
export type KindWords = Pick<Kind, 'sortWords' | 'filters' | 'statusOf' | 'project' | 'isSameOwn'>;

/** What some words look up in other objects. All of it is read when a list is made, so it should be in memory. */
export interface WordsContext {
  /** The platform's name, which is part of the keys of annotations. */
  readonly platform: string;
  /** The label selector of a Service. `undefined`: no such Service is in memory. */
  selectorOf(namespace: string, service: string): Readonly<Record<string, string>> | undefined;
  /** The annotations of a Role, or of a ClusterRole if the namespace is empty. `undefined`: no such role is in memory. */
  annotationsOf(namespace: string, role: string): Readonly<Record<string, string>> | undefined;
}

/**
 * The words of `sortBy` that every kind has. KubeSphere's console also sends `startTime` and `updateTime`; for a kind that has no such
 * time they mean the creation time, as in KubeSphere 3.4.
 */
export const SORT_WORDS: SortWords = new Map([
  ...COMMON_SORT_WORDS,
  ['startTime', 'creationTimestamp'],
  ['updateTime', 'creationTimestamp'],
]);

/** The words of a kind that has none of its own. */
export const PLAIN_WORDS: KindWords = { sortWords: SORT_WORDS, filters: new Map(), statusOf: () => '' };
