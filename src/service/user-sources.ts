import type { UserObjects } from '../accounts/directory/user-objects.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { TokenDataSource } from '../oauth/token-data.ts';
import {
  createFirstAdministrator,
  type FirstAdministrator,
  type FirstAdministratorOptions,
} from '../users/first-administrator.ts';
import type { Bcrypt } from '../users/password-hash.ts';
import type { UserSource } from '../users/user-directory.ts';
import { createUsersFile, type UsersFileOptions } from '../users/users-file.ts';
import { NO_UPKEEP, type Shared, type Upkeep } from './family.ts';

export interface UserSourceOptions {
  /** Absent if no users file is configured. */
  readonly file?: UsersFileOptions | undefined;
  readonly firstAdministrator: FirstAdministratorOptions;
  readonly firstAdministratorWanted: 'always' | 'in-cluster' | 'never';
}

export interface UserSourceParts extends Omit<Shared, 'events'> {
  readonly cluster: Pick<Cluster, 'apiServer' | 'inCluster' | 'secrets'>;
  /** The users that are objects of the cluster; absent without accounts. */
  readonly objects?: UserObjects | undefined;
  /** Default: the library. */
  readonly bcrypt?: Bcrypt | undefined;
}

/** Where users come from, and what keeps them current. */
export interface UserSources {
  /** In order of precedence: the file, User objects, the first administrator. */
  readonly sources: readonly UserSource[];
  readonly administrator: FirstAdministrator | undefined;
  /** While one of these sources has a fault, users may be missing, so no token is refused because its user is unknown or gone. */
  readonly judgedBy: readonly TokenDataSource[];
  readonly upkeep: Upkeep;
}

/**
 * Creates the sources of users: the users file if one is configured, and the first administrator's Secret in a cluster
 * or on request. Throws `UsersFileError` for a file that cannot be used.
 */
export function createUserSources(
  options: UserSourceOptions,
  { cluster, clock, random, logger, registry, objects, bcrypt }: UserSourceParts,
): UserSources {
  const { firstAdministratorWanted: wanted } = options;
  const { secrets, inCluster, apiServer } = cluster;
  const ofCluster = { secrets, clock, random, logger: logger.child({ apiServer }), bcrypt };
  const file = options.file && createUsersFile(options.file, { clock, logger, registry });
  const administrator =
    wanted === 'always' || (wanted === 'in-cluster' && inCluster)
      ? createFirstAdministrator(options.firstAdministrator, ofCluster)
      : undefined;
  if (!file && !objects && !administrator)
    logger.warn('nobody can sign in: neither users.file nor users.firstAdministrator is set');
  return {
    sources: [
      file,
      objects,
      administrator && { ...administrator, ...(objects && { givesWayTo: objects.label }) },
    ].filter((source) => source !== undefined),
    administrator,
    judgedBy: [objects, administrator].filter((source) => source !== undefined),
    upkeep: {
      ...NO_UPKEEP,
      ...(administrator && upkeepOf(administrator, options.firstAdministrator.secretName, secrets)),
      parts: [
        ...(file ? [{ name: 'users file', run: file.run }] : []),
        ...(objects ? [{ name: 'User objects', run: objects.run }] : []),
        ...(administrator ? [{ name: 'first administrator', run: administrator.run }] : []),
      ],
    },
  };
}

const upkeepOf = (
  administrator: FirstAdministrator,
  secretName: string,
  secrets: Cluster['secrets'],
): Pick<Upkeep, 'checks' | 'ages'> => ({
  checks: [
    {
      name: 'first-administrator',
      endpoints: ['readyz'],
      missingRight: () => secrets.missingRight(secretName),
      check: () => administrator.fault(),
    },
  ],
  ages: { lists: {}, revocation: { 'first-administrator': secrets.proofOf(secretName) } },
});
