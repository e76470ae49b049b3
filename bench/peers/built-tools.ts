import { existsSync, globSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const PROGRAMS = ['etcd', 'kube-apiserver', 'kubectl'];

/**
 * Whether the real API server can start without a build of minutes. The folders are those of `test/cluster/README.md`.
 */
export function toolsAreBuilt(environment: Readonly<Record<string, string | undefined>>): boolean {
  const assets = environment['KUBEBUILDER_ASSETS'];
  if (assets) return PROGRAMS.every((name) => existsSync(join(assets, name)));
  const cache = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'gatehouse', 'tools');
  return PROGRAMS.every((name) => globSync(`${name}-v*/${name}`, { cwd: folder }).length > 0);
}
