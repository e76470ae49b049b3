import type { KubernetesObject } from '../api/objects.ts';
import { hrefTo } from './address.ts';

/** Groups of which every kind has a plural of its own, so that it needs no group behind it. */
const PLAIN = /\.(?:apps|batch)$/;

/** Where an object of a kind is shown. The kind may have its group in its name, as in the answers of the search: `deployments.apps`. */
export function hrefOfObject(
  resource: string,
  { metadata: { name, namespace } }: Pick<KubernetesObject, 'metadata'>,
): string {
  const plural = resource.replace(PLAIN, '');
  if (plural === 'nodes' || plural === 'namespaces') return hrefTo([plural, name]);
  return hrefTo(['resources', plural, ...(namespace === undefined ? [] : [namespace]), name]);
}
