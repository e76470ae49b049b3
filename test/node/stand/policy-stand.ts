import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { V1Pod, V1Service } from '@kubernetes/client-node';
import { inject } from 'vitest';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import { eventually } from '../../cluster/eventually.ts';
import type { ServerProcess } from '../../support/control-plane/server-process.ts';
import { startNetworkPolicies } from '../kubernetes/network-policies.ts';
import { NODE_ADDRESS } from '../kubernetes/place.ts';
import { get, kubectl } from './kubectl.ts';
import { type Door, PodNetwork } from './pod-network.ts';
import { Release } from './release.ts';
import { PATIENTLY } from './way.ts';
import { list, pod } from './workload.ts';

const NAMESPACE = 'network-policy';

/** The pods that call Gatehouse or are called by it, with the namespace of each. A pod's label `app` is its name. */
const PEERS = {
  neighbour: NAMESPACE,
  prometheus: 'monitoring',
  controller: 'policy-ingress',
  bystander: 'policy-ingress',
  dns: 'policy-dns',
  stranger: 'policy-strangers',
} as const;
export type Peer = keyof typeof PEERS;

/** As a `from` or a `to` of a policy names them. */
export const podsOf = (peer: Peer): object => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': PEERS[peer] } },
  podSelector: { matchLabels: { app: peer } },
});
export const namespaceOf = (peer: Peer): string => PEERS[peer];

/** What `dns` and `stranger` listen at. */
export const FAR_DOORS = [
  ...(['udp:53', 'tcp:53', 'udp:5353', 'tcp:5353', 'tcp:443', 'tcp:6443'] as const),
  ...(['udp:443', 'tcp:80', 'tcp:8080', 'tcp:9200'] as const),
] as const satisfies readonly Door[];

/** A port of Gatehouse's pods that is neither the API's nor that of metrics. */
export const OTHER_DOOR = 'tcp:8888';

/** The port of the store's Service, and the one at which the store itself listens, at the node's address. */
const STORE_SERVICE_PORT = 9200;
export const STORE_PORT = 9300;

const SLEEP = ['/bin/busybox', 'sleep', '86400'];

/** A release under enforced policies, and pods that try what the policies are about. */
export class PolicyStand {
  readonly release = new Release(NAMESPACE);
  readonly #peers = new Map<Peer, PodNetwork>();
  readonly #ends: (() => Promise<unknown>)[] = [];
  #enforcer: ServerProcess | undefined;
  #gatehouse: PodNetwork | undefined;
  #closeOther: (() => Promise<void>) | undefined;
  #isInstalled = false;

  static async start(): Promise<PolicyStand> {
    const stand = new PolicyStand();
    try {
      stand.#enforcer = await startNetworkPolicies(inject('kubeconfig'));
      await stand.#startPeers();
      await stand.#startStore();
    } catch (error) {
      await stand.remove();
      throw error;
    }
    return stand;
  }

  /** Installs or upgrades the release. The policy is in force a moment later. */
  async set(values: object): Promise<void> {
    await this.#closeOther?.();
    if (this.#isInstalled) await this.release.upgrade(values);
    else await this.release.install(values);
    this.#isInstalled = true;
    await kubectl(['create', 'clusterrolebinding', NAMESPACE, '--clusterrole=cluster-admin', '--user=admin']).catch(
      () => undefined, // it is there from before
    );
    await this.#enter();
  }

  /** Replaces Gatehouse's pod; resolves when the new one is ready. */
  async restart(): Promise<void> {
    await this.#closeOther?.();
    await this.release.kubectl(['rollout', 'restart', 'deployment/gatehouse']);
    await this.release.kubectl(['rollout', 'status', 'deployment/gatehouse']);
    await this.#enter();
  }

  /** What becomes of each peer's connection to this port of Gatehouse's pod. */
  async fromPeers(door: Door): Promise<Record<string, string | undefined>> {
    const { address } = this.gatehouse;
    const callers = [...this.#peers].map(async ([name, peer]) => {
      return [name, (await peer.reach(address, [door]))[door]] as const;
    });
    return Object.fromEntries(await Promise.all(callers));
  }

  /** What becomes of Gatehouse's connections and datagrams to each port of this peer. */
  toPeer(peer: Peer): Promise<Record<(typeof FAR_DOORS)[number], string>> {
    return this.gatehouse.reach(this.#peers.get(peer)!.address, FAR_DOORS);
  }

  toNode<D extends Door>(...doors: readonly D[]): Promise<Record<D, string>> {
    return this.gatehouse.reach(NODE_ADDRESS, doors);
  }

  get gatehouse(): PodNetwork {
    if (!this.#gatehouse) throw new Error('nothing is installed');
    return this.#gatehouse;
  }

  /** The store's address as a client in the cluster writes it: that of its Service. */
  async storeHost(): Promise<string> {
    const { spec } = await get<V1Service>('-n', PEERS.stranger, 'service', 'store');
    return `http://${spec!.clusterIP}:${STORE_SERVICE_PORT}`;
  }

  async remove(): Promise<void> {
    await this.#closeOther?.();
    for (const end of this.#ends.reverse()) await end();
    await this.release.remove();
    await kubectl(['delete', 'clusterrolebinding', NAMESPACE, '--ignore-not-found']);
    const others = [...new Set(Object.values(PEERS))].filter((name) => name !== NAMESPACE);
    await kubectl(['delete', 'namespace', ...others, '--ignore-not-found', '--wait=false']);
    await this.#enforcer?.terminate();
  }

  async #enter(): Promise<void> {
    this.#gatehouse = await PodNetwork.of(await this.release.pod());
    this.#closeOther = await this.#gatehouse.listen([OTHER_DOOR]);
  }

  async #startPeers(): Promise<void> {
    for (const namespace of new Set(Object.values(PEERS))) {
      await kubectl(['create', 'namespace', namespace]);
      await eventually(
        () => kubectl(['-n', namespace, 'get', 'serviceaccount', 'default']).catch(() => ''), // without it no pod is admitted
        (said) => said !== '',
      );
    }
    const names = Object.keys(PEERS) as Peer[];
    await Promise.all(names.map((name) => this.#startPeer(name)));
    for (const name of ['dns', 'stranger'] as const) this.#ends.push(await this.#peers.get(name)!.listen(FAR_DOORS));
  }

  async #startPeer(name: Peer): Promise<void> {
    const namespace = PEERS[name];
    await kubectl(['-n', namespace, 'create', '-f', '-'], list(pod(name, { command: SLEEP })));
    await kubectl(['-n', namespace, 'wait', '--for=condition=Ready', `pod/${name}`, PATIENTLY]);
    this.#peers.set(name, await PodNetwork.of(await get<V1Pod>('-n', namespace, 'pod', name)));
  }

  async #startStore(): Promise<void> {
    const store = await startSimulatedLogStore();
    this.#ends.push(() => store.stop(), await openDoor(store));
    await kubectl(['-n', PEERS.stranger, 'apply', '-f', '-'], list(...STORE_SERVICE));
  }
}

/** Leads from the node's address to the store, which listens on loopback. */
async function openDoor({ url }: SimulatedLogStore): Promise<() => Promise<void>> {
  const door = createServer((client) => {
    const store = connect(Number(new URL(url).port), '127.0.0.1');
    client.on('error', () => store.destroy()).pipe(store);
    store.on('error', () => client.destroy()).pipe(client);
  });
  await once(door.listen(STORE_PORT, NODE_ADDRESS), 'listening');
  return async () => void door.close();
}

const STORE_SERVICE = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'store' },
    spec: { ports: [{ port: STORE_SERVICE_PORT, targetPort: STORE_PORT }] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'store', labels: { 'kubernetes.io/service-name': 'store' } },
    addressType: 'IPv4',
    ports: [{ port: STORE_PORT }],
    endpoints: [{ addresses: [NODE_ADDRESS] }],
  },
];
