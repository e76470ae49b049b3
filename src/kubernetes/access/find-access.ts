import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { environmentProxy } from '../../runtime/text/proxy-variables.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { ClusterAccessError, type KubeconfigRules, kubeconfigAccess } from './kubeconfig.ts';

/** Where to look for access to the cluster. */
export interface AccessOptions extends KubeconfigRules {
  /** A kubeconfig file. Default: the pod's service account, else `KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** The process environment. It may name a cluster and a proxy, and exec plugins get it. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Finds the access to the cluster. Throws a `ClusterAccessError` if there is none, or if the kubeconfig cannot be used. */
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
  if (options.kubeconfig) return kubeconfigAccess([options.kubeconfig], options);
  const environment = options.environment ?? {};
  const pod = await inClusterAccess(environment);
  if (pod) return pod;
  const named = new Set((environment['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== ''));
  if (named.size > 0) return accessOfList([...named], options);
  const home = join(homedir(), '.kube', 'config');
  if (await isThere(home)) return kubeconfigAccess([home], options);
  throw new NoClusterError(`there is no cluster to connect to: no pod service account, no KUBECONFIG and no ${home}`);
}

/** Neither the configuration nor the environment names a cluster, and we do not run in a pod. */
export class NoClusterError extends ClusterAccessError {}

/** The access from the files of KUBECONFIG. Some of them may be missing, as for every client of Kubernetes. */
async function accessOfList(files: readonly string[], rules: KubeconfigRules): Promise<ClusterAccess> {
  const found = await Promise.all(files.map(isThere));
  const there = files.filter((_file, at) => found[at]);
  if (there.length === 0) throw new ClusterAccessError(`KUBECONFIG names no file that is there: ${files.join(', ')}`);
  const missing = files.filter((_file, at) => !found[at]);
  const merged = await kubeconfigAccess(there, rules);
  if (missing.length === 0) return merged;
  const warnings = missing.map((file) => `KUBECONFIG names ${file}, which is not there`);
  return { ...merged, warnings: [...warnings, ...(merged.warnings ?? [])] };
}

/** Whether the file exists. A file that exists and cannot be read causes an error later, when it is read. */
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );

/** The folder in which the kubelet mounts a service account ("Accessing the Kubernetes API from a Pod"). */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The Service of the API server in every cluster, which its certificate names; used if KUBERNETES_SERVICE_HOST is not set. */
const DEFAULT_HOST = 'kubernetes.default.svc';

/** The access with the pod's service account; `undefined` outside a pod, and in a pod without a service account token. */
export async function inClusterAccess(
  environment: Readonly<Record<string, string | undefined>>,
  folder = SERVICE_ACCOUNT,
): Promise<ClusterAccess | undefined> {
  const token = `${folder}/token`;
  const found = await access(token).then(
    () => true,
    () => false,
  );
  if (!found) return undefined;
  const host = environment['KUBERNETES_SERVICE_HOST'] || DEFAULT_HOST;
  const port = environment['KUBERNETES_SERVICE_PORT'] || '443';
  const namespace = await readFile(`${folder}/namespace`, 'utf8').catch(() => '');
  return {
    inCluster: true,
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim() || undefined,
    ca: { file: `${folder}/ca.crt` },
    token: { file: token },
    skipTlsVerify: false,
  };
}
