import { readFile } from 'node:fs/promises';
import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { type ControlPlane, startControlPlane } from '../../test/support/control-plane.ts';
import { type Ask, Connection, requestBytes, type Target } from '../load/connection.ts';
import { BENCH_USERS } from '../sign-in-asks.ts';
import type { BenchCluster } from './bench-cluster.ts';

import type { Peer } from './peer.ts';

/** Writes at once; more does not make one API server and one etcd on two cores any faster. */
const WRITERS = 4;

/** A real kube-apiserver with nodes of the bench's size: a cluster to mirror and a peer to measure. */
export interface RealCluster extends BenchCluster {
  readonly peer: Peer;
}

/** Starts it, empty. */
export async function startReal(): Promise<ControlPlane> {
  const control = await startControlPlane();
  const binding = ['clusterrolebinding', 'bench', '--clusterrole=cluster-admin', `--user=${BENCH_USERS[0] ?? ''}`];
  await control.kubectl(['create', ...binding]);
  return control;
}

/** Creates the nodes after the first `existing` ones, which are there. Its parts stop with the control plane, not before. */
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
 * The API server notes on every object who wrote which field, which is a third of its size. Gatehouse leaves that out of
 * its answer; to compare equal answers it is taken off here (https://kubernetes.io/docs/reference/using-api/server-side-apply/#clearing-managedfields).
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
