import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { hashPassword } from '../../src/users/password-hash.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startControlPlane } from '../support/control-plane.ts';
import { startGatehouse as startInProcess } from '../support/gatehouse.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { node } from './manifests.ts';

export const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

export interface ListedNode {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** Two replicas on one cluster, with ways to change the cluster and to take parts away for a while. */
export interface LiveListStand {
  readonly urls: readonly string[];
  readonly token: string;
  createNode(name: string): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** Sets the label `step`. */
  step(name: string, step: number): Promise<void>;
  /** Puts a pod of that name, with these requests, on the node. An earlier pod of that name is deleted. */
  use(name: string, cpu: string): Promise<void>;
  restartReplica(at: number): Promise<void>;
  restartApiServer(): Promise<void>;
  /** What the cluster holds, by the list of a replica. */
  list(): Promise<readonly ListedNode[]>;
  stop(): Promise<void>;
}

/**
 * Every caller may do everything, because this test is about the content of watches. Both replicas have one issuer, so
 * that each accepts the other's tokens.
 */
const CONFIG = {
  authorization: { mode: 'AlwaysAllow' },
  authentication: { oauthOptions: { issuer: 'http://localhost/oauth' } },
};

const PASSWORD = 'ada-password';

const usersFile = async (): Promise<string> =>
  JSON.stringify({ users: [{ name: 'ada', groups: [], passwordHash: await hashPassword(PASSWORD, 10) }] });

async function listOf(url: string, token: string): Promise<readonly ListedNode[]> {
  const answer = await fetch(`${url}${LIST}`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { items: readonly ListedNode[] }).items;
}

const podObject = (nodeName: string, cpu: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `of-${nodeName}`, namespace: 'default' },
  spec: {
    nodeName,
    containers: [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu } } }],
  },
});

export async function startRealStand(): Promise<LiveListStand> {
  const cluster = await startControlPlane();
  const ports = await freePorts(2);
  // The same file for all restarts: another hash would count as another password, and end the sessions begun with the
  // old one.
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-live-list-'));
  const file = join(folder, 'users.json');
  await writeFile(file, await usersFile());
  const start = (port: number | undefined): Promise<Gatehouse> =>
    startGatehouse(cluster, {}, { port: port ?? 0, config: { ...CONFIG, users: { file } } });
  // One after the other: the second finds the signing key of the first.
  const replicas = [await start(ports[0]), await start(ports[1])];
  const [first] = replicas as [Gatehouse, Gatehouse];
  const token = await first.signIn('ada');
  const kubectl = async (args: readonly string[], input?: object): Promise<void> =>
    void (await cluster.kubectl(args, input && JSON.stringify(input)));
  return {
    urls: replicas.map(({ url }) => url),
    token,
    createNode: async (name) => void (await cluster.kubectl(['create', '-f', '-'], node(name))),
    removeNode: (name) => kubectl(['delete', 'node', name]),
    step: (name, step) => kubectl(['label', 'node', name, `step=${step}`, '--overwrite']),
    use: async (name, cpu) => {
      await kubectl(['delete', 'pod', `of-${name}`, '--ignore-not-found', '--grace-period=0', '--force']);
      await kubectl(['create', '-f', '-'], podObject(name, cpu));
    },
    restartReplica: async (at) => {
      await replicas[at]?.stop();
      replicas[at] = await start(ports[at]);
    },
    restartApiServer: async () => {
      await cluster.killApiServer();
      await cluster.startApiServer();
    },
    list: () => listOf(first.url, token),
    stop: async () => {
      for (const replica of replicas) await replica.stop();
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function startSimulatedStand(): Promise<LiveListStand> {
  const [clusterPort = 0, ...ports] = await freePorts(3); // who restarts comes back to its port
  const cluster = await startSimulatedCluster({ port: clusterPort });
  const { objects } = cluster;
  const users = await usersFile();
  const start = (port: number | undefined) =>
    startInProcess({ kubeconfig: cluster.kubeconfig(), users, config: { ...CONFIG, server: { port } } });
  const replicas = [await start(ports[0]), await start(ports[1])];
  const urls = replicas.map(({ origin }) => origin);
  const [first = ''] = urls;
  const form = {
    grant_type: 'password',
    client_id: 'gatehouse',
    client_secret: 'gatehouse',
    username: 'ada',
    password: PASSWORD,
  };
  const answer = await fetch(`${first}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const status = { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } };
  return {
    urls,
    token,
    createNode: async (name) =>
      void objects.create('nodes', { kind: 'Node', apiVersion: 'v1', metadata: { name }, status }),
    removeNode: async (name) => void objects.remove('nodes', name),
    step: async (name, step) => void objects.patch('nodes', name, { metadata: { labels: { step: `${step}` } } }),
    use: async (name, cpu) => {
      const isThere = objects.get('pods', `default/of-${name}`) !== undefined;
      if (isThere) objects.remove('pods', `default/of-${name}`);
      objects.create('pods', { ...podObject(name, cpu), status: { phase: 'Running' } });
    },
    restartReplica: async (at) => {
      await replicas[at]?.stop();
      replicas[at] = await start(ports[at]);
    },
    restartApiServer: () => cluster.restart(1_000),
    list: () => listOf(first, token),
    stop: async () => {
      for (const replica of replicas) await replica.stop();
      await cluster.stop();
    },
  };
}
