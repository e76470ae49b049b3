import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword } from '../../src/users/password-hash.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { install, NAMESPACE } from './installation.ts';
import { startProgram } from './program.ts';

/** The program as it is installed: its own process, its own service account, the rights of `deploy/`. */
export interface Gatehouse {
  readonly url: string;
  /** An access token for one of `users`, by the password grant. */
  signIn(user: string): Promise<string>;
  get(path: string, token: string): Promise<{ status: number; body: unknown }>;
  /** The value of one series, 0 when it is not there. */
  metric(series: string): Promise<number>;
  /** SIGKILL. */
  stop(): Promise<void>;
  /** SIGTERM, as in a rollout. */
  terminate(): Promise<void>;
}

interface GatehouseChange {
  /** Default: a free one. */
  readonly port?: number;
  /** More of the configuration file. */
  readonly config?: object;
  /** As in `startProgram`. */
  readonly times?: number;
  /** Writes the kubeconfig for this token of its service account and answers its path. Default: the cluster's usual one. */
  kubeconfig?(token: string): Promise<string>;
}

/** `users` are names with their groups; each one's password is its name and `-password`. */
export async function startGatehouse(
  cluster: ControlPlane,
  users: Readonly<Record<string, readonly string[]>>,
  change: GatehouseChange = {},
): Promise<Gatehouse> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-service-'));
  const [freePort, metricsPort] = (await freePorts(2)) as [number, number];
  const port = change.port ?? freePort;
  const config = join(folder, 'config.yaml');
  const log = join(folder, 'gatehouse.log');
  const kubeconfig = change.kubeconfig ?? cluster.kubeconfigFile;
  const basis = await configuration(cluster, { folder, port, metricsPort, users, kubeconfig });
  await writeFile(config, JSON.stringify({ ...basis, ...change.config }));
  const url = `http://127.0.0.1:${port}`;
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const server = await startProgram({ config, log, url, times: change.times ?? 1 }).catch(async (error) => {
    await removeFolder();
    throw error;
  });
  return {
    url,
    signIn: (user) => signIn(url, user),
    get: async (path, token) => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      return { status: answer.status, body: await answer.json() };
    },
    metric: async (series) => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
      return Number(line?.slice(series.length) ?? 0);
    },
    stop: async () => {
      await server.kill();
      await removeFolder();
    },
    terminate: async () => {
      await server.terminate();
      await removeFolder();
    },
  };
}

interface Settings {
  readonly folder: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly users: Readonly<Record<string, readonly string[]>>;
  kubeconfig(token: string): Promise<string>;
}

async function configuration(cluster: ControlPlane, settings: Settings): Promise<object> {
  const { folder, port, metricsPort, users, kubeconfig } = settings;
  const token = await install(cluster, 'memory');
  const file = join(folder, 'users.yaml');
  const entries = Object.entries(users).map(async ([name, groups]) => {
    return { name, groups, passwordHash: await hashPassword(`${name}-password`, 10) };
  });
  await writeFile(file, JSON.stringify({ users: await Promise.all(entries) }));
  return {
    server: { address: '127.0.0.1', port, metricsPort },
    kubernetes: { kubeconfig: await kubeconfig(token), namespace: NAMESPACE },
    users: { file },
  };
}

async function signIn(url: string, username: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'gatehouse', client_secret: 'gatehouse' };
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, username, password: `${username}-password` }),
  });
  const body = (await answer.json()) as { access_token?: string };
  if (!body.access_token) throw new Error(`sign-in of ${username} was answered ${answer.status}`);
  return body.access_token;
}
