import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { mergePatch } from '../../../dev/cluster/merge-patch.ts';
import { atEnd } from '../../support/at-end.ts';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { type DrivenClock, startDrivenReady } from '../service/driven.ts';
import { eventually, type Pair, type Person, type Service, startCluster, startService } from '../service/stand.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3/namespaces';
export const NAMESPACE = 'shop';

/** A record of a stream, as it was sent. */
// biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
export type SentRecord = Record<string, any>;

/** A stream of logs, as its client reads it. */
export class LogReading {
  readonly status: number;
  readonly headers: Headers;
  readonly records: SentRecord[] = [];
  /** Whether the answer came to its end. */
  isWhole = false;
  /** Why the answer broke off. */
  failure: unknown;
  readonly #stop: AbortController;

  constructor(answer: Response, stop: AbortController) {
    this.status = answer.status;
    this.headers = answer.headers;
    this.#stop = stop;
    void this.#read(answer).catch((error) => {
      this.failure = error;
    });
  }

  /** Waits until the records fulfil the condition. */
  until(isSo: (records: readonly SentRecord[]) => boolean): Promise<readonly SentRecord[]> {
    return eventually(
      () => [...this.records],
      (records) => isSo(records),
    );
  }

  /** Waits for the last record. */
  ended = (): Promise<SentRecord> =>
    eventually(
      () => ({ isWhole: this.isWhole, last: this.records.at(-1) ?? {}, failure: this.failure }),
      ({ isWhole }) => isWhole,
    ).then(({ last }) => last);

  /** The texts of the lines of this pod, or of all. */
  texts(pod?: string): string[] {
    return this.records
      .filter((one) => one['type'] === 'line' && (pod ?? one['pod']) === one['pod'])
      .map((one) => one['text']);
  }

  /** The events of pods as `event pod/container`. */
  get events(): string[] {
    return this.records
      .filter(({ type }) => type === 'pod')
      .map(({ event, pod, container }) => `${event} ${pod}${container === undefined ? '' : `/${container}`}`);
  }

  leave(): void {
    this.#stop.abort();
  }

  async #read(answer: Response): Promise<void> {
    let held = '';
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for await (const chunk of answer.body ?? []) {
      const lines = (held + decoder.decode(chunk, { stream: true })).split('\n');
      held = lines.pop() ?? '';
      for (const line of lines) this.records.push(JSON.parse(line) as SentRecord);
    }
    if (held !== '') this.records.push(JSON.parse(held) as SentRecord);
    this.isWhole = true;
  }
}

/** A cluster with a deployment of pods in one namespace, and Gatehouse with its gateway in front of it. */
export class WorkloadStand {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  readonly tokens: Readonly<Record<Person, string>>;
  readonly refreshTokens: Readonly<Record<Person, string>>;

  constructor({
    cluster,
    service,
    tokens,
    refreshTokens,
  }: Pick<WorkloadStand, 'cluster' | 'service' | 'tokens' | 'refreshTokens'>) {
    this.cluster = cluster;
    this.service = service;
    this.tokens = tokens;
    this.refreshTokens = refreshTokens;
  }

  url = (path: string): string => `${this.service.gatehouse.origin}${ROOT}/${NAMESPACE}/${path}`;

  /** Opens the stream of `deployments/web/log?…`. */
  async follow(path = 'deployments/web/log', person: Person = 'ada'): Promise<LogReading> {
    const stop = new AbortController();
    atEnd(() => stop.abort());
    const headers = { authorization: `Bearer ${this.tokens[person]}` };
    return new LogReading(await fetch(this.url(path), { headers, signal: stop.signal }), stop);
  }

  /** Creates a running pod of the deployment `web`, or what `change` makes of it. */
  addPod(name: string, change: object = {}): void {
    const pod = {
      metadata: {
        ...{ name, namespace: NAMESPACE, labels: { app: 'web' } },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'rs-1', controller: true }],
      },
      spec: { nodeName: 'node-a', containers: [{ name: 'main', image: 'example.test/image' }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ name: 'main', restartCount: 0, state: { running: {} } }],
      },
    };
    this.cluster.objects.create('pods', mergePatch(pod, change) as NewObject);
  }

  write(pod: string, ...texts: readonly (string | Buffer)[]): void {
    this.cluster.podLogs.write(`${NAMESPACE}/${pod}`, 'main', ...texts);
  }

  /** Writes the status of the container `main`. */
  setStatus(pod: string, restartCount: number, state: object, lastState: object = {}): void {
    this.cluster.objects.patch('pods', `${NAMESPACE}/${pod}`, {
      status: { containerStatuses: [{ name: 'main', restartCount, state, lastState }] },
    });
  }

  /** Ends the container `main` and starts it again. */
  restart(pod: string, restartCount: number): void {
    this.setStatus(pod, restartCount, { running: {} }, { terminated: { exitCode: 1, reason: 'Error' } });
  }

  removePod(name: string): void {
    this.cluster.objects.remove('pods', `${NAMESPACE}/${name}`);
  }

  /** Gives Joe these rights in the namespace. The returned function takes them away. */
  allow(rules: readonly object[]): () => void {
    const metadata = { name: 'joe-logs', namespace: NAMESPACE };
    const { objects } = this.cluster;
    objects.create('roles', { metadata, rules });
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'joe' }];
    const roleRef = { kind: 'Role', apiGroup: 'rbac.authorization.k8s.io', name: 'joe-logs' };
    objects.create('rolebindings', { metadata, roleRef, subjects });
    return () => objects.remove('rolebindings', `${NAMESPACE}/joe-logs`);
  }

  /** The requests for logs that the cluster has got. */
  get logRequests(): readonly string[] {
    return this.cluster.evidence.requests.filter(({ path }) => path.endsWith('/log')).map(({ url }) => url);
  }
}

const DEPLOYMENT = {
  metadata: { name: 'web', namespace: NAMESPACE },
  spec: { replicas: 3, selector: { matchLabels: { app: 'web' } } },
};

/** All rights that following the deployment needs. */
export const RULES = [
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
];

const GATEWAY = { config: { gateway: { enabled: true } } };

export async function startWorkload(
  pods: readonly string[] = ['web-a', 'web-b', 'web-c'],
  change: Partial<GatehouseOptions> = {},
): Promise<WorkloadStand> {
  const cluster = await startWorkloadCluster();
  const service = await startService(cluster, { ...GATEWAY, ...change });
  return withPods(pods, { cluster, service, signIn: (person) => service.signIn(person) });
}

/** With a clock of Gatehouse that the test drives, for what takes half a minute. */
export async function startDrivenWorkload(
  pods: readonly string[],
): Promise<{ readonly stand: WorkloadStand; readonly clock: DrivenClock }> {
  const cluster = await startWorkloadCluster();
  const { service, clock } = await startDrivenReady(cluster, GATEWAY);
  const stand = await withPods(pods, { cluster, service, signIn: (person) => clock.during(service.signIn(person)) });
  return { stand, clock };
}

async function startWorkloadCluster(): Promise<SimulatedCluster> {
  const cluster = await startCluster();
  cluster.objects.create('namespaces', { metadata: { name: NAMESPACE }, status: { phase: 'Active' } });
  cluster.objects.create('deployments', DEPLOYMENT);
  return cluster;
}

async function withPods(
  pods: readonly string[],
  { cluster, service, signIn }: Pick<WorkloadStand, 'cluster' | 'service'> & { signIn(person: Person): Promise<Pair> },
): Promise<WorkloadStand> {
  const [ada, joe] = [await signIn('ada'), await signIn('joe')];
  const tokens = { ada: ada.access_token, joe: joe.access_token };
  const refreshTokens = { ada: ada.refresh_token, joe: joe.refresh_token };
  const stand = new WorkloadStand({ cluster, service, tokens, refreshTokens });
  for (const name of pods) stand.addPod(name);
  return stand;
}
