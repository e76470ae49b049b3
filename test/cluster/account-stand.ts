import { readFile } from 'node:fs/promises';
import { OWN_ACCOUNT, OWN_TOKEN } from '../support/accounts/deployed-rights.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { loadAccounts } from '../support/observed/account-people.ts';
import { type AccountStand, startAccounts } from '../support/observed/account-stand.ts';
import { gatewayRights } from '../support/observed/gateway-rights.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { installDefinitions } from './custom-resources.ts';

const { platform } = OBSERVED_CONFIG;

export interface ClusterAccounts {
  readonly accounts: AccountStand;
  stop(): Promise<void>;
}

/** The fixture of the account cases in a real cluster, and Gatehouse in front of it. */
export async function startClusterAccounts(): Promise<ClusterAccounts> {
  const cluster = await startControlPlane({ tokens: { [OWN_TOKEN]: OWN_ACCOUNT } });
  try {
    const accounts = await startOn(cluster);
    const stop = async (): Promise<void> => {
      await accounts.stop();
      await cluster.stop();
    };
    return { accounts, stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function startOn(cluster: ControlPlane): Promise<AccountStand> {
  await installDefinitions(cluster, platform);
  const create = async (objects: readonly object[]): Promise<void> => {
    if (objects.length === 0) return;
    await cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  };
  await create(gatewayRights(platform));
  const accounts = await startAccounts({
    kubeconfig: await readFile(await cluster.kubeconfigFile(OWN_TOKEN), 'utf8'),
    readSecret: async (name) => {
      const secret = JSON.parse(await cluster.kubectl(['get', 'secret', name, '-o', 'json'])) as object;
      return (secret as { data: Record<string, string> }).data;
    },
  });
  const patchUser = async (name: string, metadata: object): Promise<void> => {
    const patch = JSON.stringify({ metadata });
    await cluster.kubectl(['patch', `users.iam.${platform}.io`, name, '--type=merge', '-p', patch]);
  };
  await loadAccounts({ create, patchUser }, accounts);
  return accounts;
}
