import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterTool } from './cluster-tools.ts';
import { requestToken, runTool, writeKubeconfig } from './control-plane/clients.ts';
import { type Layout, layOut, type StaticTokens } from './control-plane/layout.ts';
import type { ServerProcess } from './control-plane/server-process.ts';
import { startApiServer, startEtcd } from './control-plane/servers.ts';

export interface ControlPlaneOptions {
  /** More flags for kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
  /** Bearer tokens beside the administrator's. */
  readonly tokens?: StaticTokens;
}

/** A real kube-apiserver with a real etcd and RBAC, without controllers, scheduler and kubelets. */
export interface ControlPlane {
  readonly url: string;
  /** etcd's client URL; its JSON gateway answers below /v3/. */
  readonly etcdUrl: string;
  readonly caFile: string;
  /** The token of a user in system:masters. */
  readonly adminToken: string;
  /** The process id of kube-apiserver; `undefined` while it does not run. */
  readonly apiServerPid: number | undefined;
  /** Writes a kubeconfig with this bearer token (default: the administrator's). Resolves to its path. */
  kubeconfigFile(token?: string): Promise<string>;
  /** Runs kubectl as administrator, with `input` on its standard input. Resolves to its standard output. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Requests a token of an existing service account by the TokenRequest API. It is valid for an hour. */
  serviceAccountToken(namespace: string, name: string, audiences?: readonly string[]): Promise<string>;
  /** Sends SIGKILL: connections end without an answer, and the port refuses new ones. */
  killApiServer(): Promise<void>;
  /**
   * Sends SIGSTOP: connections stay open and the kernel accepts new ones, but no request is answered until the returned function is
   * called.
   */
  freezeApiServer(): () => void;
  /** Starts the API server again, with its port, data, keys and certificate. Resolves when it is ready. */
  startApiServer(): Promise<void>;
  /**
   * Copies etcd's data; both servers are stopped and started for that. The returned function restores the copy in the same way, like a
   * restore of etcd from a backup.
   */
  backUp(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** The flags of an API server without nodes and controllers. */
const ALONE = [
  '--authorization-mode=RBAC',
  // This plug-in refuses every pod without the default service account of its namespace, which no controller makes here.
  '--disable-admission-plugins=ServiceAccount',
  '--service-cluster-ip-range=10.0.0.0/24',
  '--endpoint-reconciler-type=none', // a loopback address is no endpoint of the kubernetes Service
];

/**
 * Resolves when `/readyz` answers 200. A failed start ends the servers that it started and rejects with the last lines
 * of the server's log. The servers end with this process, whatever happens to it.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = {
    etcd: await clusterTool('etcd'),
    apiServer: await clusterTool('kubeApiserver'),
    kubectl: await clusterTool('kubectl'),
  };
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-cluster-'));
  const layout = await layOut(folder, options.tokens ?? {});
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const servers: { etcd?: ServerProcess; api?: ServerProcess } = {};
  const start = async (): Promise<void> => {
    servers.etcd ??= await startEtcd(binaries.etcd, layout);
    const args = [...ALONE, ...(options.apiServerArgs ?? [])];
    servers.api = await startApiServer(binaries.apiServer, layout, { address: '127.0.0.1', args });
  };
  const stop = async (): Promise<void> => {
    await servers.api?.kill();
    await servers.etcd?.kill();
    process.off('exit', removeFolder);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const killApiServer = async (): Promise<void> => servers.api?.kill();
  const killBoth = async (): Promise<void> => {
    await killApiServer();
    await servers.etcd?.kill();
    delete servers.etcd;
  };
  return {
    ...clientFace(layout, binaries.kubectl),
    get apiServerPid() {
      return servers.api?.running ? servers.api.pid : undefined;
    },
    killApiServer,
    startApiServer: start,
    freezeApiServer: () => servers.api?.freeze() ?? (() => undefined),
    backUp: () => backUpData(layout.etcdData, { stop: killBoth, start }),
    stop,
  };
}

async function backUpData(
  data: string,
  { stop, start }: { readonly stop: () => Promise<void>; readonly start: () => Promise<void> },
): Promise<() => Promise<void>> {
  const copy = `${data}-backup`;
  await stop();
  await cp(data, copy, { recursive: true });
  await start();
  return async () => {
    await stop();
    await rm(data, { recursive: true });
    await cp(copy, data, { recursive: true });
    await start();
  };
}

type ClientFace = Omit<
  ControlPlane,
  'apiServerPid' | 'killApiServer' | 'startApiServer' | 'freezeApiServer' | 'backUp' | 'stop'
>;

function clientFace(layout: Layout, kubectl: string): ClientFace {
  const url = `https://127.0.0.1:${layout.apiPort}`;
  const { caFile, adminToken } = layout;
  const administrator = { url, caFile, token: adminToken };
  const kubeconfigFile = (token: string = adminToken): Promise<string> =>
    writeKubeconfig(layout.kubeconfigs, createHash('sha256').update(token).digest('hex').slice(0, 12), {
      ...administrator,
      token,
    });
  return {
    url,
    caFile,
    adminToken,
    etcdUrl: `http://127.0.0.1:${layout.etcdPort}`,
    kubeconfigFile,
    kubectl: async (args, input) => runTool(kubectl, ['--kubeconfig', await kubeconfigFile(), ...args], input),
    serviceAccountToken: (namespace, name, audiences = []) =>
      requestToken(administrator, { namespace, name, audiences }),
  };
}
