import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterTool } from '../../test/support/cluster-tools.ts';
import { freePorts } from '../../test/support/control-plane/free-ports.ts';
import type { ControlPlane } from '../../test/support/control-plane.ts';
import { selfSigned } from '../../test/support/self-signed.ts';
import { type Children, end } from '../children.ts';
import { Connection, requestBytes, type Target } from '../load/connection.ts';

/** A server through which requests reach the same API server. */
export interface GatewayPeer {
  readonly name: string;
  readonly target: Target;
  /** Unknown for a server that somebody else started. */
  readonly pid?: number;
  stop(): Promise<void>;
}

/** `kubectl proxy`, which passes on requests as the administrator and does not authenticate its clients. */
export async function startKubectlProxy(children: Children, control: ControlPlane): Promise<GatewayPeer> {
  const [port = 0] = await freePorts(1);
  const args = ['--kubeconfig', await control.kubeconfigFile(), 'proxy', `--port=${port}`];
  const child = children.start(await clusterTool('kubectl'), args, { logFile: join(children.folder, 'kubectl.log') });
  const target = { port, headers: {} };
  await untilServing(target);
  return { name: 'kubectl proxy', target, ...(child.pid && { pid: child.pid }), stop: () => end(child) };
}

/** The name in the certificate with which kube-rbac-proxy authenticates at the API server. */
export const PROXY_USER = 'bench-proxy';

/** Makes the client certificate of kube-rbac-proxy, and the flag by which the API server trusts it. */
export async function makeProxyCertificate(folder: string) {
  const { cert, key } = selfSigned(PROXY_USER);
  const files = { cert: join(folder, 'proxy.crt'), key: join(folder, 'proxy.key') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  return files;
}

/**
 * kube-rbac-proxy, which reviews the bearer and the right of each request, and caches both. It passes requests on with a client
 * certificate of its own, without impersonation.
 */
export async function startRbacProxy(
  children: Children,
  control: ControlPlane,
  files: { readonly cert: string; readonly key: string },
): Promise<GatewayPeer> {
  const [port = 0, proxied = 0] = await freePorts(2);
  const serving = selfSigned('127.0.0.1');
  const [cert, key] = [join(children.folder, 'serving.crt'), join(children.folder, 'serving.key')];
  await writeFile(cert, serving.cert);
  await writeFile(key, serving.key, { mode: 0o600 });
  const args = [
    `--secure-listen-address=127.0.0.1:${port}`,
    `--proxy-endpoints-port=${proxied}`,
    `--upstream=${control.url}/`,
    `--upstream-ca-file=${control.caFile}`,
    `--upstream-client-cert-file=${files.cert}`,
    `--upstream-client-key-file=${files.key}`,
    `--kubeconfig=${await control.kubeconfigFile()}`,
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${key}`,
  ];
  const logFile = join(children.folder, 'kube-rbac-proxy.log');
  const child = children.start(await clusterTool('kubeRbacProxy'), args, { logFile });
  const target = { port, ca: serving.cert, headers: { authorization: `Bearer ${control.adminToken}` } };
  await untilServing(target);
  return { name: 'kube-rbac-proxy', target, ...(child.pid && { pid: child.pid }), stop: () => end(child) };
}

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

async function untilServing(target: Target): Promise<void> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const status = await statusOf(target).catch((error: Error) => error.message);
    if (status === 200) return;
    if (performance.now() > giveUpAt) throw new Error(`port ${target.port} does not serve: ${status}`);
    await sleep(POLL_MS);
  }
}

async function statusOf(target: Target): Promise<number> {
  const connection = await Connection.open(target);
  try {
    return (await connection.exchange(requestBytes(target, { path: '/api' }))).status;
  } finally {
    connection.close();
  }
}
