import { type Answer, json, plain } from '../answer.ts';
import type { ResourceKind } from '../kinds.ts';
import type { ApiRequest } from '../request.ts';
import { aggregatedDiscovery, asksForAggregated } from './aggregated-discovery.ts';
import type { ServedKinds, ServedVersion } from './served-kinds.ts';
import { subresourcesOf } from './subresources.ts';
import { verbsOf } from './verbs.ts';

/** A version of `apidiscovery.k8s.io`. */
export type DiscoveryVersion = 'v2' | 'v2beta1';

interface DiscoveryParts {
  readonly version: string;
  readonly kinds: ServedKinds;
  /** The versions of aggregated discovery that are served. */
  readonly aggregatedDiscovery: readonly DiscoveryVersion[];
}

type Discovery = Pick<ApiRequest, 'path' | 'headers'>;

/** `/version`, the probes and discovery; undefined for any other path. */
export function discover(request: Discovery, parts: DiscoveryParts): Answer | undefined {
  switch (request.path) {
    case '/version':
    case '/version/':
      return json(versionInfo(parts.version));
    case '/healthz':
    case '/livez':
    case '/readyz':
      return plain('ok');
    case '/api':
    case '/apis': {
      const version = asksForAggregated(request.headers.accept, parts.aggregatedDiscovery);
      return version ? aggregatedDiscovery(request, version, parts.kinds) : roots(request.path, parts.kinds);
    }
  }
  const document = documentOf(request.path, parts.kinds);
  if (document) asksForAggregated(request.headers.accept, []); // refused here, as any other form
  return document;
}

function roots(path: string, { groups }: ServedKinds): Answer {
  if (path === '/api') return json({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
  const named = [...groups].filter(([group]) => group !== '');
  return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupOf) });
}

/** The document of a group or of a group version. */
function documentOf(path: string, { groups }: ServedKinds): Answer | undefined {
  const [, root, group = '', version, ...more] = path.split('/');
  if (root === 'api' && version === undefined) {
    const core = groups.get('')?.find((served) => served.version === group);
    return core && resourceList(core);
  }
  const versions = groups.get(group);
  if (root !== 'apis' || group === '' || versions === undefined || more.length > 0) return undefined;
  if (version === undefined) return json({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf([group, versions]) });
  const served = versions.find((one) => one.version === version);
  return served && !served.isAway ? resourceList(served) : undefined;
}

function versionInfo(gitVersion: string): object {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'go1.24.0',
    compiler: 'gc',
    platform: 'linux/amd64',
  };
}

/** Whether `path` is below an API version that is served by this server itself. Unknown paths there are answered with a Status. */
export function isServed(path: string, { groups }: ServedKinds): boolean {
  const [, root, group = '', version] = path.split('/');
  if (root === 'api') return group === 'v1';
  const served = root === 'apis' ? groups.get(group)?.find((one) => one.version === version) : undefined;
  // A real server answers for groups of custom resources in plain text.
  return served?.kinds.some(({ isCustom }) => !isCustom) ?? false;
}

const groupOf = ([name, versions]: readonly [string, readonly ServedVersion[]]): object => {
  const served = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: served, preferredVersion: served[0] };
};

/** A real server leaves out the `apiVersion` of the core group's list. */
function resourceList({ group, version, kinds }: ServedVersion): Answer {
  return json({
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: kinds.flatMap(resourcesOf),
  });
}

const resourcesOf = (kind: ResourceKind): readonly object[] => [
  {
    name: kind.plural,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
  },
  ...subresourcesOf(kind).map(({ name, kind: own, group, version, verbs }) => ({
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced: kind.namespaced,
    ...(group !== undefined && { group, version }),
    kind: own,
    verbs,
  })),
];
