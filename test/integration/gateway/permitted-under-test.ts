import { type SimulatedCluster, startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { Authorizer, Subject } from '../../../src/authorization/authorizer.ts';
import type { NamespacedRight, PermittedScope, PermittedScopes } from '../../../src/authorization/permitted-scope.ts';
import type { PermittedCall } from '../../../src/gateway/permitted/asked-collection.ts';
import { OwnReads } from '../../../src/gateway/permitted/own-reads.ts';
import { PermittedLists } from '../../../src/gateway/permitted/permitted-lists.ts';
import { createServedKinds } from '../../../src/gateway/permitted/served-kinds.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Change, type GatewayUnderTest, startGateway, stopped } from './gateway-under-test.ts';

/** How many namespaces the cluster has; each has `pod` and `pod-b`, and a config map. */
export const NAMESPACES = 1_000;

export const nameOf = (index: number): string => `ns-${String(index).padStart(4, '0')}`;

const GROUP = 'rbac.authorization.k8s.io';

/** The namespaces in which Alice may do something. They are changed by the test; the cluster has the same as RoleBindings. */
class Rights implements PermittedScopes, Authorizer {
  readonly #cluster: SimulatedCluster;
  readonly #names = new Set<string>();
  /** Verbs that Alice has nowhere, whatever is granted. */
  readonly withheld = new Set<string>();
  /** The namespaces in which Alice may list and not watch. Only reviews know that. */
  readonly unwatched = new Set<string>();
  isEverywhere = false;
  /** Set: no scope can be worked out. */
  failure: Error | undefined;
  readonly asked: NamespacedRight[] = [];

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster;
  }

  grant(...names: readonly string[]): void {
    for (const name of names) {
      this.#names.add(name);
      this.#cluster.objects.create('rolebindings', {
        apiVersion: `${GROUP}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'reader', namespace: name },
        roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'reader' },
        subjects: [{ apiGroup: GROUP, kind: 'User', name: 'alice' }],
      });
    }
  }

  revoke(...names: readonly string[]): void {
    for (const name of names) {
      this.#names.delete(name);
      this.#cluster.objects.remove('rolebindings', `${name}/reader`);
    }
  }

  revokeAll(): void {
    this.revoke(...this.#names);
  }

  scopeOf(_subject: Subject, right: NamespacedRight): PermittedScope | Promise<PermittedScope> {
    this.asked.push(right);
    if (this.failure) return Promise.reject(this.failure);
    const names = this.withheld.has(right.verb) ? new Set<string>() : new Set(this.#names);
    if (right.verb === 'watch') for (const name of this.unwatched) names.delete(name);
    return { id: [...names].sort().join(), names, has: (namespace) => names.has(namespace) };
  }

  authorize(): { allowed: boolean; source: 'cache' } {
    return { allowed: this.isEverywhere, source: 'cache' };
  }
}

export interface PermittedUnderTest {
  readonly app: GatewayUnderTest;
  readonly cluster: SimulatedCluster;
  readonly clock: FakeClock;
  readonly rights: Rights;
  /** What our own account was found to lack. */
  readonly lacking: PermittedCall['asked'][];
  stop(): Promise<void>;
}

/** A gateway with permitted lists in front of a simulated cluster of 1,000 namespaces. */
export async function startPermitted(change: Change = {}): Promise<PermittedUnderTest> {
  const cluster = await startSimulatedCluster({ bookmarkIntervalMs: 0 });
  populateNamespaces(cluster);
  const clock = new FakeClock();
  const rights = new Rights(cluster);
  const lacking: PermittedCall['asked'][] = [];
  const app = await startGateway({
    ...{ server: cluster.url, token: cluster.adminToken, clock, authorizer: rights },
    permittedLists: ({ gateway, passage }) => {
      const reads = new OwnReads(passage);
      return new PermittedLists({
        ...{ gateway, reads, clock, scopes: rights, kindOf: createServedKinds(reads, clock) },
        isDenied: (group, resource) => group === '' && resource === 'events',
        onNoRight: (asked) => void lacking.push(asked),
      });
    },
    ...change,
  });
  return {
    ...{ app, cluster, clock, rights, lacking },
    stop: async () => {
      await stopped(app, clock);
      await cluster.stop();
    },
  };
}

function populateNamespaces({ objects }: SimulatedCluster): void {
  const rules = [
    { apiGroups: [''], resources: ['pods', 'configmaps', 'secrets', 'events'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch'] },
  ];
  objects.create('clusterroles', {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules,
  });
  for (let index = 0; index < NAMESPACES; index++) {
    const namespace = nameOf(index);
    objects.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const name of ['pod', 'pod-b']) objects.create('pods', podOf(namespace, name));
    const metadata = { name: 'settings', namespace };
    objects.create('configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { a: '{"items":[1]}', b: '2' },
    });
  }
}

export const podOf = (namespace: string, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app: name, ...labels } },
  spec: { containers: [{ name: 'main', image: 'a "quoted" \\ {image}' }] },
});
