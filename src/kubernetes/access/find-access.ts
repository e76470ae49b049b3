import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ClusterAccess } from './cluster-access.ts';
import { inClusterAccess } from './in-cluster.ts';
import { ClusterAccessError, kubeconfigAccess } from './kubeconfig.ts';
import { environmentProxy } from './proxy.ts';

/** Where to look for the cluster. */
export interface AccessOptions {
  /** A kubeconfig file; without one: the pod's service account, else `KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** The process environment, as far as it names a cluster or a proxy. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Finds the cluster. Throws a `ClusterAccessError` when there is none, or when its kubeconfig cannot be used. */
export async function findAccess(options: AccessOptions): Promise<ClusterAccess> {
  const access = await configuredAccess(options);
  if (access.proxy) return access;
  try {
    const proxy = environmentProxy(options.environment ?? {}, new URL(access.server));
    return proxy ? { ...access, proxy } : access;
  } catch (error) {
    throw new ClusterAccessError(`the environment ${(error as Error).message}`);
  }
}

async function configuredAccess(options: AccessOptions): Promise<ClusterAccess> {
  if (options.kubeconfig) return kubeconfigAccess([options.kubeconfig]);
  const environment = options.environment ?? {};
  const pod = await inClusterAccess(environment);
  if (pod) return pod;
  const named = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (named.length > 0) return kubeconfigAccess(named);
  const home = join(homedir(), '.kube', 'config');
  const found = await access(home).then(
    () => true,
    () => false,
  );
  if (found) return kubeconfigAccess([home]);
  throw new ClusterAccessError(
    `there is no cluster to connect to: no pod service account, no KUBECONFIG and no ${home}`,
  );
}
