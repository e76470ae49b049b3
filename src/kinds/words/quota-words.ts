import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';

/** The quantities of a ResourceQuota, as the cluster wrote them. */
export interface QuotaOwn {
  readonly hard: Readonly<Record<string, unknown>>;
  readonly used: Readonly<Record<string, unknown>>;
}

export const QUOTA_WORDS: KindWords = {
  ...PLAIN_WORDS,
  project({ status }: KubernetesObject): QuotaOwn {
    const { hard, used } = asObject(status);
    return { hard: asObject(hard), used: asObject(used) };
  },
};
