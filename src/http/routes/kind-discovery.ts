import type { NamedKind } from '../../kinds/catalog/kind-answer.ts';
import type { Representation } from '../../resources/bytes/representation.ts';
import { derived } from '../../runtime/derived.ts';
import { StatusError } from '../../status-error.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import type { ResourceKind } from '../exchange.ts';

/** `metav1.APIResource`. */
interface ApiResource extends ResourceKind {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind's own group and version, if they are not those of the list. In Go's types an absent group and `""` are the same. */
  readonly group?: string;
  readonly version?: string;
}

/** `metav1.APIResourceList`. */
export interface ApiResourceList {
  readonly kind: 'APIResourceList';
  readonly apiVersion: 'v1';
  readonly groupVersion: string;
  readonly resources: readonly ApiResource[];
}

/** The kinds of the cluster that can be listed now. */
export interface ListableKinds {
  /** The same array while nothing changes. Rejects with a 503 while the kinds are not known. */
  kinds(): Promise<readonly NamedKind[]>;
}

/** How every kind is served here, whatever else the cluster allows. */
const VERBS = ['get', 'list', 'watch'];

/**
 * The discovery document of a group version that serves the resources of `own` and every kind of the cluster. While these are not known,
 * none of them can be listed, and the document has only those of `own`.
 */
export function kindDiscovery(own: ApiResourceList, listable: ListableKinds): () => Promise<Representation> {
  const names = new Set(own.resources.map(({ name }) => name));
  const representationOf = derived((kinds: readonly NamedKind[]) => {
    const others = kinds.filter(({ name }) => !names.has(name)).map(toApiResource);
    return toRepresentation(toJsonBytes({ ...own, resources: [...own.resources, ...others] }));
  });
  return async () => representationOf(await listable.kinds().catch(noneIfUnavailable));
}

const NO_KINDS: readonly NamedKind[] = [];

function noneIfUnavailable(error: unknown): readonly NamedKind[] {
  if (error instanceof StatusError && error.answer.code === 503) return NO_KINDS;
  throw error;
}

const toApiResource = ({
  name,
  singularName,
  namespaced,
  group,
  version,
  kind,
  shortNames,
}: NamedKind): ApiResource => ({
  ...{ name, singularName, namespaced, group, version, kind },
  ...{ verbs: VERBS, shortNames },
});
