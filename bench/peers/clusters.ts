import { existsSync, globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../dev/cluster/cluster.ts';
import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { ObjectStore } from '../../dev/cluster/object-store.ts';
import { populate } from '../../dev/cluster/population/population.ts';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../test/support/control-plane.ts';
import { type Ask, Connection, requestBytes, type Target } from '../load/connection.ts';
import { BENCH_USERS } from './gatehouse.ts';
import type { Peer } from './peer.ts';

/** An API server with nodes, which Gatehouse mirrors. */
export interface BenchCluster {
  readonly name: string;
  /** The API server, with the credentials of an administrator. */
  readonly target: Target;
  /** The text of a kubeconfig file. */
  readonly kubeconfig: string;
  readonly nodeNames: readonly string[];
  stop(): Promise<void>;
}

/** The size of a node as kubelets make it, with its list of images. All sizes in the bench are for such nodes. */
export const NODE_BYTES = 12_000;

/** The nodes that the simulated cluster would have, without the parts that an API server adds. */
export function makeNodes(count: number): NewObject[] {
  const store = new ObjectStore({ clock: systemClock, random: seededRandom(1) });
  populate(store, { nodes: count, podsPerNode: 0, nodeBytes: NODE_BYTES });
  return store.list('nodes').map(({ metadata, spec, status }) => {
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...kept } = metadata;
    return { metadata: kept, ...(spec && { spec }), ...(status && { status }) };
  });
}

/** As many pods as on a node of a small real cluster. They cost Gatehouse memory and a watch, but nothing for each list. */
const PODS_PER_NODE = 10;

/** The simulated API server, in this process. */
export interface Simulation extends BenchCluster {
  readonly cluster: SimulatedCluster;
}

/** Starts a simulated cluster. Every user may do everything, unless `authorize` decides otherwise. */
export async function startSimulated(
  nodes: number,
  podsPerNode = PODS_PER_NODE,
  authorize: SimulatedClusterOptions['authorize'] = () => true,
): Promise<Simulation> {
  const cluster = await startSimulatedCluster({ authorize });
  populate(cluster.objects, { nodes, podsPerNode, nodeBytes: NODE_BYTES });
  return {
    name: 'the simulated API server',
    target: { port: Number(new URL(cluster.url).port), headers: { authorization: `Bearer ${cluster.adminToken}` } },
    kubeconfig: cluster.kubeconfig(),
    nodeNames: cluster.objects.list('nodes').map((node) => node.metadata.name),
    cluster,
    stop: () => cluster.stop(),
  };
}

const PROGRAMS = ['etcd', 'kube-apiserver', 'kubectl'];

/**
 * Whether the real API server can start at once, without a build that takes minutes. The folders are those of
 * `test/cluster/README.md`.
 */
export function toolsAreBuilt(environment: Readonly<Record<string, string | undefined>>): boolean {
  const assets = environment['KUBEBUILDER_ASSETS'];
  if (assets) return PROGRAMS.every((name) => existsSync(join(assets, name)));
  const cache = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folder = join(cache, 'gatehouse', 'tools');
  return PROGRAMS.every((name) => globSync(`${name}-v*/${name}`, { cwd: folder }).length > 0);
}

/** Concurrent writes; with more of them, one API server and one etcd on two cores are no faster. */
const WRITERS = 4;

/** A real kube-apiserver with nodes of the bench's size: a cluster to mirror and a peer to measure. */
export interface RealCluster extends BenchCluster {
  readonly peer: Peer;
}

/** Starts an empty API server, with these additional flags. */
export async function startReal(apiServerArgs: readonly string[] = []): Promise<ControlPlane> {
  const control = await startControlPlane({ apiServerArgs });
  const binding = ['clusterrolebinding', 'bench', '--clusterrole=cluster-admin', `--user=${BENCH_USERS[0] ?? ''}`];
  await control.kubectl(['create', ...binding]);
  return control;
}

/**
 * Creates the nodes after the first `existing` ones, which exist already. The returned parts stop together with the control plane.
 */
export async function withNodes(
  control: ControlPlane,
  nodes: readonly NewObject[],
  existing: number,
): Promise<RealCluster> {
  const target: Target = {
    port: Number(new URL(control.url).port),
    ca: await readFile(control.caFile, 'utf8'),
    headers: { authorization: `Bearer ${control.adminToken}` },
  };
  await createAll(target, nodes.slice(existing));
  const stop = async (): Promise<void> => undefined;
  return {
    name: 'the real kube-apiserver',
    target,
    kubeconfig: await readFile(await control.kubeconfigFile(), 'utf8'),
    nodeNames: nodes.map((node) => node.metadata.name),
    peer: { name: 'kube-apiserver', target, listPath: '/api/v1/nodes', stop },
    stop,
  };
}

async function createAll(target: Target, nodes: readonly NewObject[]): Promise<void> {
  const queue = nodes.values();
  const writer = async (): Promise<void> => {
    const connection = await Connection.open(target);
    try {
      for (const node of queue) await createNode({ connection, target }, node);
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

/**
 * Creates a node, and removes its managedFields, which are a third of its size
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields). Gatehouse leaves them out of its answer,
 * so the answers are then comparable.
 */
async function createNode(to: { connection: Connection; target: Target }, node: NewObject): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Node', ...node });
  await write(to, { method: 'POST', path: '/api/v1/nodes', headers: { 'content-type': 'application/json' }, body });
  await write(to, {
    method: 'PATCH',
    path: `/api/v1/nodes/${node.metadata.name}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"metadata":{"managedFields":[{}]}}',
  });
}

async function write({ connection, target }: { connection: Connection; target: Target }, ask: Ask): Promise<void> {
  const answer = await connection.fetch(requestBytes(target, ask));
  if (answer.status < 300) return;
  throw new Error(`${ask.method} ${ask.path} answered ${answer.status}: ${answer.content.toString().slice(0, 500)}`);
}
