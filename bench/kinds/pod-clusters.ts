import { readFile } from 'node:fs/promises';
import type { SimulatedClusterOptions } from '../../dev/cluster/cluster.ts';
import type { NewObject } from '../../dev/cluster/kube-object.ts';
import type { Bench } from '../bench.ts';
import { Connection, requestBytes, type Target } from '../load/connection.ts';
import { type BenchCluster, type Simulation, startReal, startSimulated } from '../peers/clusters.ts';
import type { Peer } from '../peers/peer.ts';
import { namespaceName, podOf } from './pods.ts';

/** A cluster with pods, and the real kube-apiserver as a peer if it is one. */
export interface PodCluster extends BenchCluster {
  readonly peer?: Peer;
  /** kube-apiserver's version; undefined for the simulated one. */
  readonly version?: string;
}

const namespaceOf = (name: string): NewObject => ({ metadata: { name } }) as NewObject;

/** The simulated API server with these pods. `light`: without most of their spec and status, so 1 kB each. */
export async function simulatedPods(
  { pods, namespaces, light = false }: { pods: number; namespaces: number; light?: boolean },
  authorize?: SimulatedClusterOptions['authorize'],
): Promise<Simulation> {
  const simulation = await startSimulated(1, 0, authorize);
  const { objects } = simulation.cluster;
  for (let at = 0; at < namespaces; at++) objects.create('namespaces', namespaceOf(namespaceName(at)));
  for (let index = 0; index < pods; index++) {
    const pod = podOf({ index, namespaces });
    objects.create('pods', light ? lightly(pod) : pod);
  }
  return simulation;
}

function lightly(pod: NewObject): NewObject {
  const { nodeName } = pod['spec'] as { nodeName: string };
  const { phase } = pod['status'] as { phase: string };
  const { managedFields: _, ...metadata } = pod.metadata as NewObject['metadata'] & { managedFields?: unknown };
  return { metadata, spec: { nodeName, containers: [{ name: 'main', image: 'main' }] }, status: { phase } };
}

/** The real API server with these pods where it is built, else the simulated one. */
export async function podCluster(bench: Bench, size: { pods: number; namespaces: number }): Promise<PodCluster> {
  if (bench.withoutReal !== undefined) return simulatedPods(size);
  bench.note(`creating ${size.pods} pods in the real kube-apiserver`);
  const control = await startReal();
  const target: Target = {
    port: Number(new URL(control.url).port),
    ca: await readFile(control.caFile, 'utf8'),
    headers: { authorization: `Bearer ${control.adminToken}` },
  };
  const names = Array.from({ length: size.namespaces }, (_, at) => namespaceName(at));
  await createAll(target, names.map((name) => ({ path: '/api/v1/namespaces', object: namespaceOf(name) })).values());
  await createAll(target, creations(size));
  const version = JSON.parse(await control.kubectl(['version', '-o', 'json'])).serverVersion.gitVersion as string;
  return {
    name: 'the real kube-apiserver',
    target,
    kubeconfig: await readFile(await control.kubeconfigFile(), 'utf8'),
    nodeNames: [],
    version,
    peer: { name: 'kube-apiserver', target, listPath: '/api/v1/pods', stop: async () => undefined },
    stop: () => control.stop(),
  };
}

interface Creation {
  readonly path: string;
  readonly object: NewObject;
}

/** The API server itself adds managedFields, and drops the status of a new pod. */
function* creations({ pods, namespaces }: { pods: number; namespaces: number }): Generator<Creation> {
  for (let index = 0; index < pods; index++) {
    const { metadata, spec } = podOf({ index, namespaces });
    const { managedFields: _, ...kept } = metadata as NewObject['metadata'] & { managedFields?: unknown };
    yield { path: `/api/v1/namespaces/${kept.namespace}/pods`, object: { metadata: kept, spec } };
  }
}

/** Concurrent writes; with more of them, one API server and one etcd on two cores are no faster. */
const WRITERS = 4;

async function createAll(target: Target, queue: IterableIterator<Creation>): Promise<void> {
  const writer = async (): Promise<void> => {
    const connection = await Connection.open(target);
    for (const { path, object } of queue) {
      const headers = { 'content-type': 'application/json' };
      const ask = { method: 'POST', path, headers, body: JSON.stringify(object) };
      const { status, content } = await connection.fetch(requestBytes(target, ask));
      if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${content.toString().slice(0, 300)}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}
