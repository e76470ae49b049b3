import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../answer.ts';
import type { ResourceKind } from '../kinds.ts';
import { notAcceptable } from '../negotiation.ts';
import type { ServedKinds, ServedVersion } from './served-kinds.ts';
import { subresourcesOf } from './subresources.ts';
import { verbsOf } from './verbs.ts';

/** The type of the list, by which a client asks for it and the server answers. */
const typeOf = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

const JSON_TYPES: readonly string[] = ['application/json', 'application/*', '*/*'];

interface Range {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The ranges of `Accept`, those with more parameters first. */
function rangesOf(accept: string | undefined): readonly Range[] {
  const ranges = (accept || '*/*').split(',').map((range): Range => {
    const [type = '', ...rest] = range.split(';').map((part) => part.trim());
    return { type, parameters: new Map(rest.map((part) => part.split('=', 2) as [string, string])) };
  });
  return ranges.sort((a, b) => b.parameters.size - a.parameters.size);
}

/**
 * The version of aggregated discovery that the first served range of `Accept` asks for; undefined if that range is plain JSON. Throws a
 * 406 if no range is served. See https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery.
 */
export function asksForAggregated<Version extends string>(
  accept: string | undefined,
  served: readonly Version[],
): Version | undefined {
  for (const { type, parameters } of rangesOf(accept)) {
    if (!JSON_TYPES.includes(type)) continue;
    if (!parameters.has('as')) return undefined;
    const isWanted = parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    const version = served.find((one) => one === parameters.get('v'));
    if (isWanted && version !== undefined) return version;
  }
  throw notAcceptable();
}

/** The whole of discovery in one answer: the core group at `/api`, all others at `/apis`. 304 if the client has it. */
export function aggregatedDiscovery(
  { path, headers }: { readonly path: string; readonly headers: IncomingHttpHeaders },
  version: string,
  kinds: ServedKinds,
): Answer {
  const listed = [...kinds.groups].filter(([group]) => (group === '') === (path === '/api'));
  const items = listed.map(([name, versions]) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(versionOf),
  }));
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items };
  // A real server hashes the list of its newest version, too.
  const etag = `"${createHash('sha512').update(JSON.stringify(items)).digest('hex').toUpperCase()}"`;
  const known = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (headers['if-none-match'] === etag) return { code: 304, text: '', headers: known };
  return { code: 200, text: `${JSON.stringify(list)}\n`, contentType: typeOf(version), headers: known };
}

const versionOf = ({ version, kinds, isAway }: ServedVersion): object =>
  isAway ? { version, freshness: 'Stale' } : { version, resources: kinds.map(resourceOf), freshness: 'Current' };

function resourceOf(kind: ResourceKind): object {
  const subresources = subresourcesOf(kind).map((one) => ({
    subresource: one.name,
    responseKind:
      one.group === undefined ? typeNamed(kind, one.kind) : { group: one.group, version: one.version, kind: one.kind },
    verbs: one.verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: typeNamed(kind, kind.kind),
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** A real server leaves group and version of built-in kinds empty: they are those of the list. */
const typeNamed = ({ group, version, isCustom }: ResourceKind, kind: string): object =>
  isCustom ? { group, version, kind } : { group: '', version: '', kind };
