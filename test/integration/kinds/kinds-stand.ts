import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { Watcher } from '../../support/watcher.ts';
import { type DrivenClock, startDrivenReady } from '../service/driven.ts';
import { type Answer, type Person, type Service, startCluster } from '../service/stand.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';

const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' };

export const namespaceObject = (name: string) => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name },
  status: { phase: 'Active' },
});

export const podObject = (namespace: string, name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace, labels: { app: name.split('-')[0] ?? name } },
  spec: { nodeName: 'node-a', containers: [{ name: 'main', image: 'example.test/image' }] },
  status: { phase: 'Running' },
  ...more,
});

export const deploymentObject = (namespace: string, name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name, namespace },
  spec: { replicas: 1 },
  ...more,
});

/** A cluster with namespaces of two pods each, and Gatehouse in front of it. Ada may do everything, Joe what `allow` gives him. */
export async function startKinds(
  namespaces: readonly string[] = ['red', 'green', 'blue'],
  change: Partial<GatehouseOptions> = {},
): Promise<KindsStand> {
  const cluster = await startCluster();
  for (const name of namespaces) {
    cluster.objects.create('namespaces', namespaceObject(name));
    for (const pod of ['web-1', 'db-1']) cluster.objects.create('pods', podObject(name, pod));
  }
  const { service, clock } = await startDrivenReady(cluster, change);
  const signIn = async (person: Person): Promise<string> => (await clock.during(service.signIn(person))).access_token;
  const tokens = { ada: await signIn('ada'), joe: await signIn('joe') };
  return new KindsStand({ cluster, service, clock, tokens });
}

export class KindsStand {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  readonly clock: DrivenClock;
  readonly tokens: Readonly<Record<Person, string>>;

  constructor({ cluster, service, clock, tokens }: StandParts) {
    this.cluster = cluster;
    this.service = service;
    this.clock = clock;
    this.tokens = tokens;
  }

  /** The answer to a GET below the root of the list API. */
  ask(path: string, person: Person = 'ada', headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.clock.during(this.service.call(`${ROOT}/${path}`, { token: this.tokens[person], headers }));
  }

  /** `namespace/name` of each item, or the status of another answer than 200. */
  async names(path: string, person: Person = 'ada'): Promise<readonly string[] | number> {
    const { status, body } = await this.ask(path, person);
    if (status !== 200) return status;
    return body.items.map(({ metadata }: { metadata: { name: string; namespace?: string } }) =>
      metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`,
    );
  }

  watch(path: string, person: Person = 'ada', headers: Readonly<Record<string, string>> = {}): Promise<Watcher> {
    const { origin } = this.service.gatehouse;
    return this.clock.during(
      Watcher.open(`${origin}${ROOT}/${path}`, { authorization: `Bearer ${this.tokens[person]}`, ...headers }),
    );
  }

  /** How many requests the cluster got that fulfil the condition. */
  requests(isMeant: (request: ApiRequest) => boolean): number {
    return this.cluster.evidence.requests.filter(isMeant).length;
  }

  /** Gives Joe verbs on a resource in one namespace. The returned function takes them away. */
  allow(
    namespace: string,
    { group = '', resource = 'pods', verbs = ['list', 'get', 'watch'] }: AllowedRight = {},
  ): () => void {
    const name = `joe-${resource}-${verbs.join('-')}`;
    const metadata = { name, namespace };
    const { objects } = this.cluster;
    const rules = [{ apiGroups: [group], resources: [resource], verbs }];
    objects.create('roles', { ...RBAC, kind: 'Role', metadata, rules });
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'joe' }];
    const roleRef = { kind: 'Role', apiGroup: 'rbac.authorization.k8s.io', name };
    objects.create('rolebindings', { ...RBAC, kind: 'RoleBinding', metadata, roleRef, subjects });
    return () => {
      objects.remove('rolebindings', `${namespace}/${name}`);
      objects.remove('roles', `${namespace}/${name}`);
    };
  }
}

interface StandParts {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  readonly clock: DrivenClock;
  readonly tokens: Readonly<Record<Person, string>>;
}

interface AllowedRight {
  readonly group?: string;
  readonly resource?: string;
  readonly verbs?: readonly string[];
}
