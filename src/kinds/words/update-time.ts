import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { Ordered, SortWords, ValueOrder } from '../../resources/query/list-query.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { SORT_WORDS } from './kind-words.ts';

/** Milliseconds since 1970. An object without the time counts as the oldest. */
export function timeOf(timestamp: unknown): number {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at;
}

/** When the object was created or one of its conditions was last updated, whichever is later. */
export function updatedAt({ metadata, status }: KubernetesObject): number {
  const conditions = asArray(asObject(status)['conditions']).map(asObject);
  const times = conditions.flatMap(({ lastUpdateTime, lastTransitionTime }) => [lastUpdateTime, lastTransitionTime]);
  return Math.max(...[metadata.creationTimestamp, ...times].map(timeOf));
}

/** Sorts by the time that the kind keeps of each object. */
export const byOwnTime = (word: string): ValueOrder => ({ word, value: ({ own }: Ordered) => own as number });

/** Kinds that keep `updatedAt` of each object. */
export const UPDATE_TIME_WORDS: SortWords = new Map([...SORT_WORDS, ['updateTime', byOwnTime('updateTime')]]);
