import { type Answer, json, plain } from './answer.ts';
import { KINDS, REVIEWS, type ResourceKind } from './kinds.ts';

const STORED_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** `/version`, the probes and discovery; undefined for any other path. */
export function discover(path: string, gitVersion: string): Answer | undefined {
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
      return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: groups().map(groupOf) });
  }
  const [, root, group = '', version, ...more] = path.split('/');
  if (root === 'api' && group === 'v1' && version === undefined) return resourceList('', 'v1');
  if (root !== 'apis' || !groups().includes(group) || more.length > 0) return undefined;
  if (version === undefined) return json({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) });
  return version === 'v1' ? resourceList(group, `${group}/v1`) : undefined;
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

const groups = (): string[] => [...new Set([...KINDS, ...REVIEWS].map((kind) => kind.group))].filter(Boolean);

/** Is `path` below an API version of ours? */
export function isServed(path: string): boolean {
  const [, root, group = '', version] = path.split('/');
  return root === 'api' ? group === 'v1' : root === 'apis' && groups().includes(group) && version === 'v1';
}

const groupOf = (name: string): object => {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
};

function resourceList(group: string, groupVersion: string): Answer {
  const stored = KINDS.filter((kind) => kind.group === group).flatMap((kind) => [
    resourceOf(kind, STORED_VERBS),
    ...(kind.hasStatus ? [{ ...resourceOf(kind, ['get', 'patch', 'update']), name: `${kind.plural}/status` }] : []),
  ]);
  const posted = REVIEWS.filter((kind) => kind.group === group).map((kind) => resourceOf(kind, ['create']));
  return json({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [...stored, ...posted] });
}

const resourceOf = (kind: ResourceKind, verbs: readonly string[]): object => ({
  name: kind.plural,
  singularName: kind.kind.toLowerCase(),
  namespaced: kind.namespaced,
  kind: kind.kind,
  verbs,
});
