import { type Agent, request } from 'undici';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './installation.ts';

const RBAC = 'rbac.authorization.k8s.io';
/** Requests in flight while the cluster is filled. */
const AT_ONCE = 32;

export const nameOf = (index: number): string => `ns-${String(index).padStart(4, '0')}`;
export const namesTo = (count: number): string[] => Array.from({ length: count }, (_, index) => nameOf(index));

/** A cluster with many namespaces, each with one pod, and users who may read some of them. */
export class PermittedStand {
  readonly #cluster: ControlPlane;
  readonly #dispatcher: Agent;

  private constructor(cluster: ControlPlane, dispatcher: Agent) {
    this.#cluster = cluster;
    this.#dispatcher = dispatcher;
  }

  /** `users` are those whom Gatehouse may impersonate. */
  static async open(
    cluster: ControlPlane,
    names: readonly string[],
    users: readonly string[],
  ): Promise<PermittedStand> {
    const stand = new PermittedStand(cluster, await apiDispatcher(cluster.caFile));
    await stand.#post(`/apis/${RBAC}/v1/clusterroles`, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
    });
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(rightsOfGatehouse(users)));
    await atOnce(names, async (namespace) => {
      await stand.#post('/api/v1/namespaces', { metadata: { name: namespace } });
      await stand.createPod(namespace, 'pod');
    });
    return stand;
  }

  /** Gives the user the right to read the pods of these namespaces. */
  grant = (user: string, names: readonly string[]): Promise<void> =>
    atOnce(names, (namespace) =>
      this.#post(`/apis/${RBAC}/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name: user },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
      }),
    );

  revoke = (user: string, names: readonly string[]): Promise<void> =>
    atOnce(names, (namespace) => this.#send('DELETE', `/apis/${RBAC}/v1/namespaces/${namespace}/rolebindings/${user}`));

  createPod = (namespace: string, name: string): Promise<void> =>
    this.#post(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'example/main' }] },
    });

  deletePod = (namespace: string, name: string): Promise<void> =>
    this.#send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);

  close = (): Promise<void> => this.#dispatcher.close();

  #post = (path: string, object: object): Promise<void> => this.#send('POST', path, object);

  async #send(method: 'POST' | 'DELETE', path: string, object?: object): Promise<void> {
    const { statusCode, body } = await request(this.#cluster.url + path, {
      method,
      dispatcher: this.#dispatcher,
      headers: { authorization: `Bearer ${this.#cluster.adminToken}`, 'content-type': 'application/json' },
      body: object ? JSON.stringify(object) : null,
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${method} ${path} was answered ${statusCode}: ${text}`);
  }
}

/** The rights to act as these users, and to read what permitted lists are made of. */
function rightsOfGatehouse(users: readonly string[]): object {
  const rules = [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: users },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['system:authenticated'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['userextras/gatehouse.io/session'], verbs: ['impersonate'] },
    { apiGroups: [''], resources: ['pods', 'configmaps'], verbs: ['list', 'watch'] },
  ];
  const metadata = { name: 'permitted-lists' };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules },
      {
        ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name },
        subjects: [{ kind: 'ServiceAccount', name: 'gatehouse', namespace: NAMESPACE }],
      },
    ],
  };
}

async function atOnce<Element>(elements: readonly Element[], work: (element: Element) => Promise<void>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: AT_ONCE }, async () => {
    while (next < elements.length) await work(elements[next++] as Element);
  });
  await Promise.all(workers);
}
