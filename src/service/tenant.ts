import type { Subject } from '../authorization/authorizer.ts';
import type { PermittedScopes } from '../authorization/permitted-scope.ts';
import type { Config } from '../config/config.ts';
import type { ServedKinds } from '../http/kinds/kind-routes.ts';
import type { ListedNamespaces, ShownConfiguration } from '../http/tenant/served-tenant.ts';
import { tenantFamily } from '../http/tenant/tenant-family.ts';
import { parseQuantity } from '../nodes/usage/quantity.ts';
import { tenantNames } from '../tenant/tenant-names.ts';
import { isClusterOwn, type UserDirectory } from '../users/user.ts';
import type { Family } from './family.ts';

export interface TenantOptions {
  readonly platform: string;
  readonly defaultWorkspace: string | undefined;
  readonly configuration: ShownConfiguration;
}

const NANOSECONDS_PER_MS = 1_000_000;

/** The options of workspaces in this configuration, and what of it everybody may read. */
export function toTenantOptions({
  platform,
  tenant,
  logging,
  events,
  auditing,
  authentication: { oauthOptions },
}: Pick<Config, 'platform' | 'tenant' | 'logging' | 'events' | 'auditing' | 'authentication'>): TenantOptions {
  const { accessTokenMaxAge, accessTokenInactivityTimeout } = oauthOptions;
  return {
    platform,
    defaultWorkspace: tenant.defaultWorkspace,
    configuration: {
      features: {
        auditing: auditing.host !== undefined,
        // Live events are those of an hour, of which 3.4's console would make a history of days.
        events: events.host !== undefined || events.live === true,
        logging: logging.host !== undefined,
        multicluster: false,
      },
      accessTokenMaxAge: accessTokenMaxAge * NANOSECONDS_PER_MS,
      accessTokenInactivityTimeout: accessTokenInactivityTimeout * NANOSECONDS_PER_MS,
    },
  };
}

export interface TenantParts {
  /** Absent: workspaces and bindings count as missing. */
  readonly kinds: ServedKinds | undefined;
  readonly namespaces: ListedNamespaces;
  readonly scopes: PermittedScopes;
  readonly users: Pick<UserDirectory, 'byName'>;
}

/** Workspaces, and what else the console of KubeSphere 3.4 reads. It holds nothing of its own. */
export function createTenant({ platform, ...options }: TenantOptions, { users, ...parts }: TenantParts): Family {
  return {
    routes: tenantFamily({
      ...options,
      ...parts,
      names: tenantNames(platform),
      subjectOf: (name) => toSubject(name, users),
      compareQuantities,
    }),
  };
}

/** The groups that the person's next token would have. Somebody whom we do not know has none. */
function toSubject(name: string, users: Pick<UserDirectory, 'byName'>): Subject {
  const user = users.byName(name);
  const groups = (user?.groups ?? []).filter((group) => !isClusterOwn(group));
  return { name, uid: user?.uid ?? '', groups: [...groups, 'system:authenticated'] };
}

function compareQuantities(one: unknown, other: unknown): number | undefined {
  const [a, b] = [parseQuantity(one), parseQuantity(other)];
  if (!a || !b || a.nano === b.nano) return a && b ? 0 : undefined;
  return a.nano < b.nano ? -1 : 1;
}
