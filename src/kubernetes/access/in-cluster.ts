import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import type { ClusterAccess } from './cluster-access.ts';

/** Where the kubelet mounts a service account: "Accessing the Kubernetes API from a Pod". */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The Service of every cluster, in the API server's certificate; reached by name when no address was given to us. */
const DEFAULT_HOST = 'kubernetes.default.svc';

/** The pod's own access, or `undefined` outside a pod (and in one without a service account token). */
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
