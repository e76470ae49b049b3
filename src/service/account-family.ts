import type { ForgetfulAuthorizer } from '../authorization/authorizer.ts';
import { accountFamily } from '../http/routes/accounts.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { type AccountKeepingOptions, createAccountKeeping } from './account-keeping.ts';
import type { AccountPeople } from './account-people.ts';
import { createWrites } from './account-writes.ts';
import type { Accounts } from './accounts.ts';
import type { Family, Shared } from './family.ts';
import type { TokenService } from './token-service.ts';

export interface AccountFamilyOptions extends AccountKeepingOptions {
  /** Names that no user can have. */
  readonly reservedNames: readonly string[];
  /** Whether the cluster's own paths are served. */
  readonly gatewayIsOpen: boolean;
}

export interface AccountFamilyParts extends Shared {
  readonly accounts: Accounts;
  readonly people: AccountPeople;
  readonly tokens: TokenService;
  /** Decides about rights that a user grants to somebody else. */
  readonly reviews: ForgetfulAuthorizer;
  readonly cluster: Cluster;
}

/** The account API over users in memory: reads, writes, and the background work. */
export function createAccountFamily(options: AccountFamilyOptions, parts: AccountFamilyParts): Family {
  const { accounts, tokens } = parts;
  return {
    routes: accountFamily({
      reads: accounts.readsWith(tokens.users),
      writes: createWrites(options, parts),
      presenter: accounts.presenter,
      gatewayIsOpen: options.gatewayIsOpen,
    }),
    upkeep: createAccountKeeping(options, parts),
  };
}
