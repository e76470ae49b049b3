import type { QuotaOwn } from '../kinds/words/quota-words.ts';

/** What may be used of a namespace, and what is used. */
export interface QuotaSums {
  readonly hard: Readonly<Record<string, unknown>>;
  readonly used: Readonly<Record<string, unknown>>;
}

/** Compares two quantities: negative if the first is smaller. `undefined` if one of them is none. */
export type CompareQuantities = (one: unknown, other: unknown) => number | undefined;

/**
 * All quotas of a namespace as one: of each resource the smallest limit, because the cluster holds a new object to every one of them, with
 * the use that this quota counts.
 */
export function quotaSums(quotas: readonly QuotaOwn[], compare: CompareQuantities): QuotaSums {
  const hard = new Map<string, unknown>();
  const used = new Map<string, unknown>();
  for (const quota of quotas) {
    for (const [resource, limit] of Object.entries(quota.hard)) {
      const isSmaller = !hard.has(resource) || (compare(limit, hard.get(resource)) ?? 0) < 0;
      if (!isSmaller) continue;
      hard.set(resource, limit);
      if (Object.hasOwn(quota.used, resource)) used.set(resource, quota.used[resource]);
      else used.delete(resource);
    }
  }
  return { hard: Object.fromEntries(hard), used: Object.fromEntries(used) };
}
