import { asArray } from '../../runtime/text/json-value.ts';
import type { ClusterKind } from './cluster-kind.ts';

/** One version of an API group, and the kinds that it has. */
export interface GroupVersion {
  /** `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly ClusterKind[];
  /** The API behind it does not answer now, so `kinds` may lack some or all of its kinds. */
  readonly isAway: boolean;
}

/** A DNS label, as every version is and every plural of a kind. A plural with another character is a subresource. */
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** A DNS subdomain. */
const GROUP = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
/** In lower case it is a DNS label. */
const KIND = /^[A-Za-z](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const VERB = /^[a-z]{1,30}$/;
/** Kubernetes has fewer than ten verbs, and a definition with more than a few short names would be a mistake. */
const LONGEST_LIST = 20;

export const isGroupName = (value: unknown): value is string => isText(value) && (value === '' || GROUP.test(value));
export const isVersionName = (value: unknown): value is string => isText(value) && LABEL.test(value);

/** What a discovery document says about a resource, before it is checked. */
interface DescribedResource {
  readonly resource: unknown;
  readonly kind: unknown;
  readonly singularName: unknown;
  readonly shortNames: unknown;
  readonly namespaced: boolean;
  readonly verbs: unknown;
}

/** Returns no kind for a subresource, and for an entry with names that cannot be parts of a path. */
export function toClusterKinds(
  { group, version }: Pick<GroupVersion, 'group' | 'version'>,
  { resource, kind, singularName, shortNames, namespaced, verbs }: DescribedResource,
): readonly ClusterKind[] {
  if (!isText(resource) || !LABEL.test(resource) || !isText(kind) || !KIND.test(kind)) return [];
  return [
    {
      group,
      version,
      resource,
      kind,
      singularName: isText(singularName) && LABEL.test(singularName) ? singularName : kind.toLowerCase(),
      shortNames: textsLike(LABEL, shortNames),
      namespaced,
      verbs: textsLike(VERB, verbs),
    },
  ];
}

/**
 * Each resource of a group in the first version that has it. The versions of a group stand in the order in which the group prefers
 * them.
 */
export function preferredKinds(groupVersions: readonly GroupVersion[]): readonly ClusterKind[] {
  const preferred = new Map<string, ClusterKind>();
  for (const { kinds } of groupVersions)
    for (const kind of kinds) {
      const key = `${kind.resource}.${kind.group}`;
      if (!preferred.has(key)) preferred.set(key, kind);
    }
  return [...preferred.values()];
}

const isText = (value: unknown): value is string => typeof value === 'string';

const textsLike = (pattern: RegExp, values: unknown): readonly string[] =>
  asArray(values)
    .filter((value) => isText(value))
    .filter((text) => pattern.test(text))
    .slice(0, LONGEST_LIST);
