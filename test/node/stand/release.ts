import { join } from 'node:path';
import type { V1Pod, V1PodList, V1Secret, V1Service } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { eventually } from '../../cluster/eventually.ts';
import { runTool } from '../../support/control-plane/clients.ts';
import { REPOSITORY } from '../image/images.ts';
import { NODE_ADDRESS } from '../kubernetes/place.ts';
import { Caller } from './caller.ts';
import { get, helm, kubectl } from './kubectl.ts';

const CHART = join(import.meta.dirname, '..', '..', '..', 'charts', 'gatehouse');

/** A release of the chart and what its users do with it. */
export class Release {
  readonly name: string;
  readonly namespace: string;

  constructor(namespace: string, name = 'gatehouse') {
    this.name = name;
    this.namespace = namespace;
  }

  /** The name of its objects. */
  get fullname(): string {
    return this.name.includes('gatehouse') ? this.name : `${this.name}-gatehouse`;
  }

  /** Resolves when all pods are ready. */
  async install(values: object = {}): Promise<void> {
    await this.#helm(['install', this.name, CHART, '--create-namespace', '--wait', '--values', '-'], withImage(values));
  }

  async upgrade(values: object = {}): Promise<void> {
    await this.#helm(['upgrade', this.name, CHART, '--wait', '--values', '-'], withImage(values));
  }

  /** Upgrades it; the pods may get ready or not. */
  async change(values: object): Promise<void> {
    await this.#helm(['upgrade', this.name, CHART, '--values', '-'], withImage(values));
  }

  /** To the revision before, or to this one. */
  async rollback(revision?: number): Promise<void> {
    await this.#helm(['rollback', this.name, ...(revision === undefined ? [] : [`${revision}`]), '--wait']);
  }

  async uninstall(): Promise<void> {
    await this.#helm(['uninstall', this.name, '--wait']);
  }

  /** Uninstalls it if it is there, and removes its namespace. */
  async remove(): Promise<void> {
    await this.#helm(['uninstall', this.name, '--wait', '--ignore-not-found']);
    await kubectl(['delete', 'namespace', this.namespace, '--ignore-not-found', '--wait=false']);
  }

  /**
   * Somebody who calls it at the node's port. Resolves when that leads to a ready pod, a moment after the pod is ready.
   * With `tls` by HTTPS, whose certificate that trusts. The port is not asked before (see README.md).
   */
  async caller(tls?: Dispatcher): Promise<Caller> {
    const port = await this.led();
    const caller = new Caller(`http${tls ? 's' : ''}://${NODE_ADDRESS}:${port}`, tls);
    await eventually(
      () =>
        caller.get('/readyz').then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
    return caller;
  }

  /**
   * The node port, as soon as kube-proxy leads it to the pods that are ready. Until then, also when all pods were away, the node refuses.
   * Rules that lead elsewhere are from before: kube-proxy is about to replace them, perhaps by none at first.
   */
  async led(): Promise<number> {
    const { spec } = await this.get<V1Service>('service', this.fullname);
    const port = spec!.ports![0]!.nodePort!;
    const leads = async () => ({ rules: await natRules(), ready: await this.#readyAddresses() });
    await eventually(
      leads,
      ({ rules, ready }) =>
        rules.includes(` --dport ${port} `) && ready.length > 0 && isSame(this.#ledTo(rules), ready),
    );
    return port;
  }

  async #readyAddresses(): Promise<string[]> {
    const isReady = ({ status }: V1Pod): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
    return (await this.pods()).filter(isReady).map(({ status }) => status!.podIP!);
  }

  /** Where the rules lead whoever calls the Service: each has a comment such as `"NAMESPACE/NAME:http -> 10.244.0.7:9090"`. */
  #ledTo(rules: string): string[] {
    const [, ...ends] = rules.split(`"${this.namespace}/${this.fullname}:`);
    return ends.flatMap((end) => /^[^"]* -> ([\d.]+):\d+"/.exec(end)?.[1] ?? []);
  }

  /** Its pods that are not about to end, by name. That of `helm test` is none of them. */
  async pods(): Promise<V1Pod[]> {
    const labels = `app.kubernetes.io/instance=${this.name},app.kubernetes.io/name=gatehouse`;
    const { items } = await this.get<V1PodList>('pods', '-l', labels);
    return items.filter(({ metadata }) => !metadata?.deletionTimestamp);
  }

  /** The one pod. */
  async pod(): Promise<V1Pod & { readonly metadata: { readonly name: string } }> {
    const pods = await this.pods();
    if (pods.length !== 1) throw new Error(`${pods.length} pods`);
    return pods[0] as V1Pod & { metadata: { name: string } };
  }

  get<T>(...args: readonly string[]): Promise<T> {
    return get<T>('-n', this.namespace, ...args);
  }

  kubectl(args: readonly string[], input?: string): Promise<string> {
    return kubectl(['-n', this.namespace, ...args], input);
  }

  /** Runs JavaScript in the container of the one pod, or of this one; answers what it prints. */
  async run(script: string, pod?: string): Promise<string> {
    const name = pod ?? (await this.pod()).metadata.name;
    return this.kubectl(['exec', name, '--', '/nodejs/bin/node', '-p', script]);
  }

  async password(): Promise<string> {
    const { data } = await this.get<V1Secret>('secret', 'gatehouse-first-administrator');
    return Buffer.from(data!['password']!, 'base64').toString();
  }

  #helm(args: readonly string[], values?: object): Promise<string> {
    return helm(['--namespace', this.namespace, ...args], values && JSON.stringify(values));
  }
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  JSON.stringify([...new Set(some)].sort()) === JSON.stringify([...new Set(others)].sort());

/** kube-proxy has one for each node port of a Service that has endpoints, and one for each endpoint. */
const natRules = (): Promise<string> => runTool('iptables-save', ['--table', 'nat']);

const withImage = (values: object): object => {
  const { image, ...others } = values as { image?: object };
  return { image: { repository: REPOSITORY, ...image }, ...others };
};
