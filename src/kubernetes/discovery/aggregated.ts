import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type GroupVersion, isGroupName, isVersionName, toClusterKinds } from './group-version.ts';

/**
 * Aggregated discovery: one document for all groups, since Kubernetes 1.26. A server without it answers with the plain document.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
 */
export const ACCEPT_AGGREGATED = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** Reads an `APIGroupDiscoveryList`; `undefined` for any other document. Its versions are in the order of preference. */
export function parseAggregated(body: unknown): readonly GroupVersion[] | undefined {
  const { kind, items } = asObject(body);
  return kind === 'APIGroupDiscoveryList' ? asArray(items).flatMap(toGroupVersions) : undefined;
}

function toGroupVersions(item: unknown): readonly GroupVersion[] {
  const { metadata, versions } = asObject(item);
  const { name: group = '' } = asObject(metadata);
  return isGroupName(group) ? asArray(versions).flatMap((version) => toGroupVersion(group, version)) : [];
}

function toGroupVersion(group: string, described: unknown): readonly GroupVersion[] {
  const { version, freshness, resources } = asObject(described);
  if (!isVersionName(version)) return [];
  const kinds = asArray(resources).flatMap((entry) => {
    const { resource, responseKind, singularResource, shortNames, scope, verbs } = asObject(entry);
    // A resource without a kind is only there for its subresources.
    const { kind } = asObject(responseKind);
    const names = { resource, kind, singularName: singularResource, shortNames };
    return toClusterKinds({ group, version }, { ...names, namespaced: scope === 'Namespaced', verbs });
  });
  return [{ group, version, kinds, isAway: freshness === 'Stale' }];
}
