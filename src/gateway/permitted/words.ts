import type { WholeCollection } from './own-reads.ts';

/**
 * The header that tells over how many namespaces a list is (RFC 9111 5.5 with Kubernetes' code 299, KEP-1693): kubectl prints its text.
 * Nothing in it comes from the request but the names of group and resource, which the cluster's discovery has.
 */
export function scopeWarning({ group, resource }: WholeCollection, namespaces: number): readonly string[] {
  const what = group === '' ? resource : `${resource}.${group}`;
  const which =
    what === 'namespaces'
      ? 'those that you may get, or in which you may list pods'
      : `those in which you may list ${what}`;
  const text = `you see ${namespaces} of the cluster's namespaces: gatehouse lists ${which}`;
  return ['Warning', `299 - "${text}"`];
}
