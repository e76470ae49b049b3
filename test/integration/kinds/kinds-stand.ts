import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { Watcher } from '../../support/watcher.ts';
import { type Answer, eventually, type Person, type Service, startCluster, startService } from '../service/stand.ts';

export const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';

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
  const service = await startService(cluster, change);
  await eventually(service.readiness, (status) => status === 200);
  const tokens = { ada: (await service.signIn('ada')).access_token, joe: (await service.signIn('joe')).access_token };
  return new KindsStand(cluster, service, tokens);
}

export class KindsStand {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  readonly tokens: Readonly<Record<Person, string>>;

  constructor(cluster: SimulatedCluster, service: Service, tokens: Readonly<Record<Person, string>>) {
    this.cluster = cluster;
    this.service = service;
    this.tokens = tokens;
  }

  /** The answer to a GET below the root of the list API. */
  ask(path: string, person: Person = 'ada', headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.service.call(`${ROOT}/${path}`, { token: this.tokens[person], headers });
  }

  /** `namespace/name` of each item, or the status of another answer than 200. */
  async names(path: string, person: Person = 'ada'): Promise<readonly string[] | number> {
    const { status, body } = await this.ask(path, person);
    if (status !== 200) return status;
    return body.items.map(({ metadata }: { metadata: { name: string; namespace?: string } }) =>
      metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`,
    );
  }

  watch(path: string, person: Person = 'ada'): Promise<Watcher> {
    const { origin } = this.service.gatehouse;
    return Watcher.open(`${origin}${ROOT}/${path}`, { authorization: `Bearer ${this.tokens[person]}` });
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
      objects.remove('rolebindings', name, namespace);
      objects.remove('roles', name, namespace);
    };
  }
}

interface AllowedRight {
  readonly group?: string;
  readonly resource?: string;
  readonly verbs?: readonly string[];
}
