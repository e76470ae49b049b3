import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { type Answer, startCluster, startService } from '../service/stand.ts';

export const IAM = '/kapis/iam.gatehouse.io/v1alpha2';
const PREFIX = 'iam.gatehouse.io';
export const GLOBAL_ROLE = `${PREFIX}/globalrole`;

export interface MadeUser {
  readonly at?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export const user = (name: string, made: MadeUser = {}): NewObject => ({
  kind: 'User',
  apiVersion: `${PREFIX}/v1alpha2`,
  metadata: {
    name,
    creationTimestamp: made.at ?? '2026-03-02T08:15:30Z',
    ...(made.labels && { labels: made.labels }),
    ...(made.annotations && { annotations: made.annotations }),
    ...made.metadata,
  },
  spec: { email: `${name}@example.com`, ...made.spec },
  status: { state: 'Active' },
});

export const role = (name: string, change: Readonly<Record<string, unknown>> = {}, assignable = true): NewObject => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: {
    name,
    ...(assignable && { labels: { [`${PREFIX}/assignable`]: 'true' } }),
    ...(change['metadata'] ?? {}),
  },
  rules: change['rules'] ?? [],
});

/** The binding that Gatehouse keeps for the platform role of a user. */
export const keptBinding = (name: string, roleName: string): NewObject => ({
  kind: 'ClusterRoleBinding',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name: `${name}-${roleName}`, labels: { [`${PREFIX}/user-ref`]: name } },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }],
});

export const record = (
  name: string,
  of: string,
  at: string,
  spec: Readonly<Record<string, unknown>> = {},
): NewObject => ({
  kind: 'LoginRecord',
  apiVersion: `${PREFIX}/v1alpha2`,
  metadata: { name, creationTimestamp: at, labels: { [`${PREFIX}/user-ref`]: of } },
  spec: { type: 'Token', provider: '', success: true, reason: 'authenticated successfully', ...spec },
});

/** Ada may do everything, Joe nothing; both are in the users file. `fill` makes what is there before the start. */
export async function startAccounts(
  fill: (objects: Awaited<ReturnType<typeof startCluster>>['objects']) => void = () => {},
  config: Readonly<Record<string, unknown>> = {},
) {
  const cluster = await startCluster();
  fill(cluster.objects);
  const service = await startService(cluster, { config: { accounts: { enabled: true }, ...config } });
  const [{ access_token: ada }, { access_token: joe }] = [await service.signIn('ada'), await service.signIn('joe')];
  const ask = (rest: string, token: string | undefined = ada, headers: Readonly<Record<string, string>> = {}) =>
    service.call(IAM + rest, { token, headers });
  return { cluster, service, ada, joe, ask, names: namesWith(ask) };
}

const namesWith =
  (ask: (rest: string) => Promise<Answer>) =>
  async (rest: string): Promise<string[]> => {
    const { body } = await ask(rest);
    const items: { metadata: { name: string } }[] = Array.isArray(body) ? body : body.items;
    return items.map(({ metadata }) => metadata.name);
  };
