import { type Answer, json, plain } from './answer.ts';
import type { ResourceKind, ServedKinds } from './kinds.ts';

const STORED_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** `/version`, the probes and discovery; undefined for any other path. */
export function discover(
  path: string,
  { version: gitVersion, kinds }: { readonly version: string; readonly kinds: ServedKinds },
): Answer | undefined {
  const { groups } = kinds;
  switch (path) {
    case '/version':
    case '/version/':
      return json(versionInfo(gitVersion));
    case '/healthz':
    case '/livez':
    case '/readyz':
      return plain('ok');
    case '/api':
      return json({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
    case '/apis':
      return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups].map(groupOf) });
  }
  const [, root, group = '', version, ...more] = path.split('/');
  if (root === 'api' && group === 'v1' && version === undefined) return resourceList(kinds, '', 'v1');
  const served = groups.get(group);
  if (root !== 'apis' || served === undefined || more.length > 0) return undefined;
  if (version === undefined) return json({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf([group, served]) });
  return version === served ? resourceList(kinds, group, `${group}/${version}`) : undefined;
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

/** Whether `path` is below an API version that is served. */
export function isServed(path: string, { groups }: ServedKinds): boolean {
  const [, root, group = '', version] = path.split('/');
  return root === 'api' ? group === 'v1' : root === 'apis' && version !== undefined && groups.get(group) === version;
}

const groupOf = ([name, version]: readonly [string, string]): object => {
  const served = { groupVersion: `${name}/${version}`, version };
  return { name, versions: [served], preferredVersion: served };
};

function resourceList(kinds: ServedKinds, group: string, groupVersion: string): Answer {
  const stored = kinds.stored
    .filter((kind) => kind.group === group)
    .flatMap((kind) => [
      resourceOf(kind, STORED_VERBS),
      ...(kind.hasStatus ? [{ ...resourceOf(kind, ['get', 'patch', 'update']), name: `${kind.plural}/status` }] : []),
    ]);
  const posted = kinds.reviews.filter((kind) => kind.group === group).map((kind) => resourceOf(kind, ['create']));
  return json({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [...stored, ...posted] });
}

const resourceOf = (kind: ResourceKind, verbs: readonly string[]): object => ({
  name: kind.plural,
  singularName: kind.kind.toLowerCase(),
  namespaced: kind.namespaced,
  kind: kind.kind,
  verbs,
});
