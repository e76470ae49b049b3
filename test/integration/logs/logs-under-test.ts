import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../../dev/cluster/cluster.ts';
import { atEnd } from '../../support/at-end.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { type CannedStore, startCannedStore } from '../../support/logs/canned-store.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from '../../support/observed/people.ts';
import { signingKeySecret } from '../../support/signing-key-secret.ts';
import { startDrivenReady } from '../service/driven.ts';
import { type Answer, Service, startCluster, usersFile } from '../service/stand.ts';

export const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';

const RBAC = 'rbac.authorization.k8s.io';
const BASE = { apiVersion: `${RBAC}/v1` };

/** A namespace, and the age that it says it has. */
export const namespace = (name: string, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, creationTimestamp },
  status: { phase: 'Active' },
});

/** Lets Joe ask for logs, and read those of the pods in these namespaces. */
export function letJoeRead({ objects }: SimulatedCluster, namespaces: readonly string[]): void {
  const subjects = [{ apiGroup: RBAC, kind: 'User', name: 'joe' }];
  const rules = {
    ask: [{ apiGroups: ['tenant.gatehouse.io'], resources: ['logs'], verbs: ['list'] }],
    read: [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }],
  };
  const roleRef = (name: string) => ({ apiGroup: RBAC, kind: 'ClusterRole', name });
  for (const name of ['ask', 'read'] as const)
    objects.create('clusterroles', { ...BASE, kind: 'ClusterRole', metadata: { name }, rules: rules[name] });
  const ask = { ...BASE, kind: 'ClusterRoleBinding', metadata: { name: 'joe' } };
  objects.create('clusterrolebindings', { ...ask, roleRef: roleRef('ask'), subjects });
  for (const name of namespaces) {
    const metadata = { name: 'joe', namespace: name };
    objects.create('rolebindings', { ...BASE, kind: 'RoleBinding', metadata, roleRef: roleRef('read'), subjects });
  }
}

export interface LogsUnderTest {
  readonly service: Service;
  readonly cluster: SimulatedCluster;
  readonly token: string;
  /** What the caller is answered to these parameters. */
  ask(parameters?: Readonly<Record<string, string>> | string, caller?: Caller): Promise<Answer>;
  /** The value of one of our series, as on the page of metrics. */
  metric(series: string): Promise<number>;
  stop(): Promise<void>;
}

interface Caller {
  readonly token?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Change {
  /** `logging` of the configuration. */
  readonly logging: object;
  /** The rest of it. */
  readonly config?: object;
  /** Default: one of its own, which ends with it. One that is given is left to the test. */
  readonly cluster?: SimulatedCluster;
}

/** Gatehouse with a log store, and Ada's token, who may see everything. It ends when it is stopped. */
export async function startLogs({ logging, config, ...change }: Change): Promise<LogsUnderTest> {
  const cluster = change.cluster ?? (await startClusterWithRights());
  const users = await usersFile();
  const gatehouse = await startGatehouse({
    kubeconfig: cluster.kubeconfig(),
    config: { ...config, logging },
    users,
  });
  const logs = await underTest(cluster, new Service(gatehouse));
  return change.cluster ? logs : { ...logs, stop: () => logs.stop().finally(() => cluster.stop()) };
}

/** The same, for one test, after which it ends. */
export async function startOwnLogs(change: Change): Promise<LogsUnderTest> {
  const logs = await startLogs(change);
  atEnd(logs.stop);
  return logs;
}

/** The same on a clock that the test drives. */
export async function startDrivenLogs({ logging, config, ...change }: Change) {
  const cluster = change.cluster ?? (await startCluster());
  const { service, clock } = await startDrivenReady(cluster, { config: { ...config, logging } });
  return { ...(await underTest(cluster, service)), clock };
}

/** A cluster in which Ada may do everything. */
export async function startClusterWithRights(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const cluster = await startSimulatedCluster(options);
  cluster.objects.create('clusterroles', ADMINS_ROLE);
  cluster.objects.create('clusterrolebindings', ADMINS_BINDING);
  cluster.objects.create('secrets', await signingKeySecret());
  return cluster;
}

/** The same, for one test. */
export async function startOwnClusterWithRights(): Promise<SimulatedCluster> {
  const cluster = await startClusterWithRights();
  atEnd(() => cluster.stop());
  return cluster;
}

/** A canned store for one test. */
export async function startOwnStore(...parameters: Parameters<typeof startCannedStore>): Promise<CannedStore> {
  const store = await startCannedStore(...parameters);
  atEnd(() => store.stop());
  return store;
}

async function underTest(cluster: SimulatedCluster, service: Service): Promise<LogsUnderTest> {
  const { access_token: token } = await service.signIn('ada');
  return {
    service,
    cluster,
    token,
    ask: (parameters = {}, caller = {}) => service.call(`${LOGS}?${queryOf(parameters)}`, { token, ...caller }),
    metric: (series) => service.metric(series),
    stop: () => service.gatehouse.stop(),
  };
}

const queryOf = (parameters: Readonly<Record<string, string>> | string): string =>
  typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();

/** Joe's token. */
export const signInJoe = async ({ service }: LogsUnderTest): Promise<string> =>
  (await service.signIn('joe')).access_token;
