import type { Config } from '../config/config.ts';
import type { HealthCheck } from '../http/health.ts';
import { createFirstAdministrator, type FirstAdministratorParts } from '../users/first-administrator.ts';
import type { UserSource } from '../users/user-source.ts';
import { createUsersFile, type UsersFileParts } from '../users/users-file.ts';
import type { Part } from './run-group.ts';

export interface UserSources {
  readonly sources: readonly UserSource[];
  readonly parts: readonly Part[];
  readonly checks: readonly HealthCheck[];
  /** Why not every user is known yet, so that nobody can be called unknown or gone; `undefined` once all are known. */
  fault(): string | undefined;
  /** The message for callers while what is known of users is older than allowed. */
  tooOld(): string | undefined;
  /** The age of what is known of users, by source. */
  readonly stalenessMs: Readonly<Record<string, () => number>>;
}

/**
 * Creates the sources of users: the users file if one is configured, and the first administrator's Secret in a cluster
 * or on request. Throws `UsersFileError` for a file that cannot be used.
 */
export function createUserSources(
  config: Config,
  inCluster: boolean,
  parts: FirstAdministratorParts & UsersFileParts,
): UserSources {
  const { platform, users, authentication, authorization } = config;
  const rules = { platform, maxHashCost: authentication.passwordHash.maxCost };
  const file = users.file === undefined ? undefined : createUsersFile({ path: users.file, ...rules }, parts);
  const wanted = users.firstAdministratorWanted;
  const administrator =
    wanted === 'always' || (wanted === 'in-cluster' && inCluster)
      ? createFirstAdministrator(
          {
            ...users.firstAdministrator,
            hashCost: authentication.passwordHash.cost,
            maxStalenessMs: authorization.maxStaleness,
          },
          parts,
        )
      : undefined;
  if (!file && !administrator)
    parts.logger.warn('nobody can sign in: neither users.file nor users.firstAdministrator is set');
  return {
    sources: [file, administrator].filter((source) => source !== undefined),
    parts: [
      ...(file ? [{ name: 'users file', run: file.run }] : []),
      ...(administrator ? [{ name: 'first administrator', run: administrator.run }] : []),
    ],
    checks: administrator
      ? [{ name: 'first-administrator', endpoints: ['readyz'], check: () => administrator.ready() }]
      : [],
    fault: () => administrator?.ready(),
    tooOld: () => administrator?.tooOld(),
    stalenessMs: administrator
      ? { 'first-administrator': () => parts.secrets.stalenessMs(users.firstAdministrator.secretName) }
      : {},
  };
}
