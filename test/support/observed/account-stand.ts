import type { Clock } from '../../../src/runtime/clock.ts';
import { startGatehouse } from '../gatehouse.ts';
import { accountFixture, type FixtureServer } from './account-people.ts';
import { Corpus } from './corpus.ts';
import { CLIENTS, OBSERVED_CONFIG } from './people.ts';

export interface AccountStand extends FixtureServer {
  readonly corpus: Corpus;
  readonly log: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

export interface AccountCluster {
  readonly kubeconfig: string;
  readonly clock?: Clock;
  /** The time after which a write is seen. Default: the time that the cases allow. */
  readonly seenMs?: number;
  /** `data` of a Secret in Gatehouse's namespace. */
  readSecret(
    name: string,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>> | undefined> | undefined;
}

const { platform } = OBSERVED_CONFIG;
const SECRET = `${platform}-first-administrator`;

/** The configuration of the account cases: five tries of a password, the gateway, and the first administrator. */
const CONFIG = {
  platform,
  accounts: { enabled: true },
  gateway: { enabled: true },
  authentication: {
    addressRateLimiterMaxTries: 1000,
    oauthOptions: { clients: [CLIENTS.client, CLIENTS.client2] },
  },
  users: { firstAdministrator: { name: 'admin', groups: ['admins'], secretName: SECRET } },
};

/** Starts Gatehouse for the account cases, with the administrator as its only user. */
export async function startAccounts({ kubeconfig, clock, seenMs, readSecret }: AccountCluster): Promise<AccountStand> {
  const gatehouse = await startGatehouse({ config: CONFIG, kubeconfig, ...(clock && { clock }) });
  const secret = await readSecret(SECRET);
  const password = Buffer.from(secret?.['password'] ?? '', 'base64').toString();
  const admin = { name: 'admin', password };
  const { users } = accountFixture(platform);
  const person = (name: string) => {
    const found = name === 'admin' ? { ...admin, email: '' } : users.find((one) => one.name === name);
    if (!found) throw new Error(`the cases know no user ${name}`);
    return found;
  };
  const { port, log, stop } = gatehouse;
  const skip = (): void => {
    throw new Error('the account cases do not move the clock');
  };
  return {
    port,
    log,
    platform,
    admin,
    corpus: new Corpus({ port, platform, skip, person, ...(seenMs && { seenMs }) }),
    stop: () => stop(),
  };
}
