import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../../dev/cluster/cluster.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { OWN_ACCOUNT, OWN_TOKEN } from '../accounts/deployed-rights.ts';
import { type AccountObject, loadAccounts } from './account-people.ts';
import { type AccountStand, startAccounts } from './account-stand.ts';
import { gatewayRights } from './gateway-rights.ts';
import { OBSERVED_CONFIG } from './people.ts';

const { platform } = OBSERVED_CONFIG;

/** A short time, because the simulated cluster sends the event of a write at once. */
const SEEN_MS = 30;

export interface SimulatedAccounts {
  readonly accounts: AccountStand;
  stop(): Promise<void>;
}

/** Starts a simulated cluster with the fixture of the account cases, and Gatehouse in front of it. */
export async function startSimulatedAccounts(): Promise<SimulatedAccounts> {
  const passed = { ms: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + passed.ms };
  const tokens: NonNullable<SimulatedClusterOptions['tokens']> = { [OWN_TOKEN]: OWN_ACCOUNT };
  const cluster = await startSimulatedCluster({ platform, clock, tokens });
  const create = async (objects: readonly AccountObject[]): Promise<void> => {
    for (const object of objects) await post(cluster, object);
  };
  await create(gatewayRights(platform) as readonly AccountObject[]);
  const accounts = await startAccounts({
    kubeconfig: cluster.kubeconfig(OWN_TOKEN),
    clock,
    seenMs: SEEN_MS,
    readSecret: (name) => cluster.objects.get('secrets', `default/${name}`)?.['data'] as Record<string, string>,
  });
  const stop = async (): Promise<void> => {
    await accounts.stop();
    await cluster.stop();
  };
  const patchUser = async (name: string, metadata: object): Promise<void> => {
    const user = cluster.objects.get('users', name);
    if (user) cluster.objects.update('users', { ...user, metadata: { ...user.metadata, ...metadata } });
  };
  const wait = async (ms: number): Promise<void> => {
    passed.ms += ms;
  };
  await loadAccounts({ create, patchUser }, accounts, wait).catch(async (error) => {
    await stop();
    throw error;
  });
  return { accounts, stop };
}

/** Creates an object over HTTP, like kubectl, so that the server adds its defaults. */
async function post({ url, adminToken }: SimulatedCluster, object: AccountObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const scope = metadata.namespace ? `/namespaces/${metadata.namespace}` : '';
  const answer = await fetch(`${url}${base}${scope}/${kind.toLowerCase()}s`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  if (answer.status !== 201) throw new Error(`${kind} ${metadata.name}: ${answer.status} ${await answer.text()}`);
}
