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
  /** Why not every user is known, so that nobody can be called unknown or gone; `undefined` once all are. */
  fault(): string | undefined;
  /** The sentence for callers while what is known of users is older than it may be. */
  tooOld(): string | undefined;
  /** How old what is known of users is, by where it comes from. */
  readonly stalenessMs: Readonly<Record<string, () => number>>;
}

/**
 * Where users come from: the users file, when one is configured, and the first administrator's Secret, in a cluster or
 * when asked for. Throws `UsersFileError` for a file that cannot be used.
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
