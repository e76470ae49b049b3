import { parse } from 'yaml';
import type { ForgetfulAuthorizer } from '../authorization/authorizer.ts';
import type { Config } from '../config/config.ts';
import type { HealthCheck } from '../http/health.ts';
import { aboutFamily } from '../http/routes/about.ts';
import { tokenReviewFamily } from '../http/routes/token-review.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { createCacheBytes } from '../resources/metrics.ts';
import type { FirstPasswords } from '../users/first-passwords.ts';
import { createAccounts, toAccountsOptions } from './accounts/accounts.ts';
import { type Authorization, createAuthorization, toAuthorizationOptions } from './authorization.ts';
import { createDocuments, toDocumentsOptions } from './documents/documents.ts';
import { type Family, NO_UPKEEP, type Shared } from './family.ts';
import { createGateway, toGatewayOptions } from './gateway.ts';
import { createKinds, createScopes, deniedKinds, type Kinds, toKindsOptions } from './kinds.ts';
import { createListMirrors, toListMirrorsOptions } from './list-mirrors.ts';
import { createMonitoring, toMonitoringOptions } from './monitoring.ts';
import { createTenant, toTenantOptions } from './tenant.ts';
import { toTokenServiceOptions } from './token-options.ts';
import { createTokenService, type TokenService, type TokenServiceParts } from './token-service.ts';
import { ClusterVersionReader, type Release, type Runtime } from './versions.ts';

export interface FamilyParts extends Shared, Pick<TokenServiceParts, 'bcrypt'> {
  readonly cluster: Cluster;
  /** The memory limit of the container in bytes; absent when there is none. */
  readonly memoryLimit?: (() => number) | undefined;
}

/** What authenticates and authorizes every call. `makeFamilies` returns it, because both parts come from families. */
export interface Judges {
  readonly tokens: Pick<TokenService, 'verifier' | 'verifications' | 'pageSessions' | 'onCallerChange'>;
  readonly authorizer: Authorization['authorizer'];
}

/**
 * Makes the families of this configuration in order: a family gets what it needs of those before it. Each is given to `add` as
 * soon as it is made, so that it is closed when a later one cannot be made. Routes are matched in this order, so the lists, which get
 * the most requests, come first.
 */
export async function makeFamilies(
  config: Config,
  parts: FamilyParts,
  add: <Made extends Family>(family: Made) => Made,
): Promise<Judges> {
  const { cluster, registry, logger } = parts;
  const exposeBytes = createCacheBytes(registry);
  let kinds: Kinds | undefined;
  const listedLater = { kinds: () => kinds?.served, search: () => kinds?.search };
  const lists = add(createListMirrors(toListMirrorsOptions(config), { ...parts, exposeBytes, ...listedLater }));
  const accounts = config.accounts.enabled
    ? add(createAccounts(toAccountsOptions(config), { ...parts, exposeBytes }))
    : undefined;
  const known = { objects: accounts?.userSource, recorder: accounts?.recorder };
  let firstPasswords: FirstPasswords | undefined;
  const later = { firstPasswords: () => firstPasswords };
  const tokens = add(createTokenService(toTokenServiceOptions(config), { ...parts, ...known, ...later }));
  add({ routes: tokenReviewFamily(tokens.tokenReviews) });
  const ofCluster = { ...parts, logger: logger.child({ apiServer: cluster.apiServer }) };
  const { authorizer, reviews } = add(createAuthorization(toAuthorizationOptions(config), ofCluster));
  const { namespaceSource: namespaces, heldBytes, searched, sharedWatches } = lists;
  const scopes = createScopes({ authorizer, namespaces, clock: parts.clock }, config.authorization.maxStaleness);
  if (config.kinds.enabled)
    kinds = add(createKinds(toKindsOptions(config), { ...parts, scopes, heldBytes, searched, sharedWatches }));
  const api =
    accounts && reviews ? add(accounts.createApi({ tokens, reviews: forgettingAlso(reviews, scopes) })) : undefined;
  firstPasswords = api?.firstPasswords;
  const followed = { stateOf: api?.gatewayStateOf };
  const isDenied = deniedKinds(config);
  if (config.gateway.enabled)
    add(await createGateway(toGatewayOptions(config), { ...parts, followed, scopes, isDenied }));
  add(
    await createDocuments(toDocumentsOptions(config), {
      ...parts,
      authorizer,
      namespaces: lists.namespaces,
      kinds: kinds?.served.mirrors,
    }),
  );
  add(await createMonitoring(toMonitoringOptions(config), parts));
  const served = { kinds: kinds?.served, namespaces: lists.namespaceList, scopes, users: tokens.users };
  add(createTenant(toTenantOptions(config), served));
  return { tokens, authorizer };
}

/** The authorizer, which also makes scopes forget a user whose rights have changed. */
const forgettingAlso = (reviews: ForgetfulAuthorizer, scopes: { forget(user: string): void }): ForgetfulAuthorizer => ({
  authorize: (subject, attributes) => reviews.authorize(subject, attributes),
  forget(user) {
    reviews.forget(user);
    scopes.forget(user);
  },
});

export interface AboutServiceParts extends Pick<Shared, 'clock' | 'logger'> {
  readonly cluster: Pick<Cluster, 'version'>;
  readonly release: Release;
  readonly runtime: Runtime;
  /** The checks of all families, and those of the process. */
  readonly checks: readonly HealthCheck[];
  /** The text of `api/platform.openapi.yaml`. */
  readonly description: string;
  /** The text of `api/crd.openapi.yaml`. */
  readonly crdDescription: string;
}

/** Health, version and descriptions. To be made last, because it needs the checks of all families. */
export function createAbout(
  { gateway }: Pick<Config, 'gateway'>,
  parts: AboutServiceParts,
): Family & Required<Pick<Family, 'routes'>> {
  const { clock, logger, cluster, release, runtime, checks, description, crdDescription } = parts;
  const version = new ClusterVersionReader({ clock, logger, read: cluster.version });
  return {
    routes: aboutFamily({
      checks,
      release: { ...release, ...runtime },
      clusterVersion: version.known,
      gatewayIsOpen: gateway.enabled,
      descriptions: { platformYaml: description, crdYaml: crdDescription, parseYaml: parse },
    }),
    upkeep: { ...NO_UPKEEP, parts: [{ name: 'cluster version', run: version.run }] },
  };
}
