import type { Counter } from 'prom-client';
import type { UserObjects } from '../accounts/directory/user-objects.ts';
import { createBearerVerifier } from '../authentication/bearer-verifier.ts';
import { ClusterKeys } from '../authentication/cluster-keys.ts';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import { oauthFamily } from '../http/routes/oauth.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { createClientSecrets } from '../oauth/client-secrets.ts';
import { createAuthorizationServer } from '../oauth/create-authorization-server.ts';
import { type CallerAuthenticationOptions, createCallerTokenFile } from '../oauth/endpoints/caller-authentication.ts';
import { createTokenReviewWebhook, type TokenReviewWebhook } from '../oauth/endpoints/token-review.ts';
import { createKeyRotator } from '../oauth/keys/key-rotator.ts';
import { createSigningKeys, type SigningKeyOptions } from '../oauth/keys/signing-keys.ts';
import { createClientFailureCounter, createVerificationCounter } from '../oauth/metrics.ts';
import type { OAuthOptions } from '../oauth/options.ts';
import type { SessionEnds } from '../oauth/sessions/session-ends.ts';
import { createTokenData, type TokenData } from '../oauth/token-data.ts';
import type { BearerVerifier, TokenVerifier } from '../oauth/tokens/identity.ts';
import { createTokenVerifier } from '../oauth/tokens/token-verifier.ts';
import { createLiveUsers, createUserStandings } from '../oauth/tokens/user-standing.ts';
import type { FirstAdministrator } from '../users/first-administrator.ts';
import { registerUserConflicts } from '../users/metrics.ts';
import { createPasswordSignIn, type PasswordOptions, type PasswordParts } from '../users/password-sign-in.ts';
import type { PasswordSignIn, SignInRecorder, ThrottleControl } from '../users/sign-in.ts';
import { type EmailOwners, reservedNames, type UserDirectory } from '../users/user.ts';
import { createUserDirectory } from '../users/user-directory.ts';
import { allUpkeep, type Family, NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { createSessions, type SessionOptions } from './session-stores.ts';
import { createUserSources, type UserSourceOptions } from './user-sources.ts';

export interface TokenServiceOptions {
  readonly oauth: OAuthOptions;
  readonly users: UserSourceOptions;
  /** Names that nobody can sign in as. */
  readonly reservedNames: readonly string[];
  readonly passwords: PasswordOptions;
  readonly keys: SigningKeyOptions;
  readonly sessions: SessionOptions;
  readonly tokenReview: CallerAuthenticationOptions;
  /** The bearer of those who call the TokenReview webhook. */
  readonly callerTokenFile?: string | undefined;
  /** Absent when service accounts of the cluster may not call. */
  readonly serviceAccounts?: { readonly audience: string } | undefined;
}

export interface TokenServiceParts extends Shared, Pick<PasswordParts, 'bcrypt'> {
  readonly cluster: Pick<
    Cluster,
    'apiServer' | 'secrets' | 'inCluster' | 'mirrorSecrets' | 'tokenReviewer' | 'serviceAccountKeys' | 'exposeStaleness'
  >;
  /** The users that are objects of the cluster; absent without accounts. */
  readonly objects?: UserObjects | undefined;
  /** Records who signed in; absent when nobody records it. */
  readonly recorder?: SignInRecorder | undefined;
}

/** Who may sign in, the tokens that they get, and the verifier of every call. */
export interface TokenService extends Family {
  /** Used by code that changes users: it ends their sessions before it writes the change. */
  readonly ends: Pick<SessionEnds, 'user'>;
  readonly tokenReviews: TokenReviewWebhook;
  /** Everybody who may sign in. */
  readonly users: UserDirectory & EmailOwners;
  /** Used by code that changes passwords, so that it has the gate and the throttle of a sign-in. */
  readonly signIn: PasswordSignIn & { readonly throttle: ThrottleControl };
  readonly administrator: FirstAdministrator | undefined;
  /** The verifier of the API; /oauth accepts our own tokens only. */
  readonly verifier: BearerVerifier;
  /** Counts bearers, by result. The API counts those that need no verification. */
  readonly verifications: Counter<'result'>;
  /** Its ages are those of the data about sign-outs, revocations and removed users. */
  readonly upkeep: Upkeep;
}

/** Connects users, keys and sessions to the authorization server and the verifier. */
export function createTokenService(options: TokenServiceOptions, parts: TokenServiceParts): TokenService {
  const { cluster, clock, random, logger, registry, events, bcrypt, objects, recorder } = parts;
  const { secrets } = cluster;
  const ofCluster = logger.child({ apiServer: cluster.apiServer });
  const people = createUserSources(options.users, { cluster, clock, random, logger, registry, objects });
  const isReserved = reservedNames(options.reservedNames);
  const users = createUserDirectory(people.sources, { events, isReserved });
  if (objects) registerUserConflicts(registry, users);
  const signIn = createPasswordSignIn(options.passwords, { users, clock, registry, events, bcrypt });
  const keys = createSigningKeys(options.keys, { secrets, clock, random, logger: ofCluster, registry, events });
  const rotator = createKeyRotator(options.keys, { keys, secrets, clock, random, logger: ofCluster, registry });
  const { store: sessions, upkeep: sessionUpkeep } = createSessions(options.sessions, {
    cluster,
    clock,
    random,
    logger,
    registry,
    events,
  });
  const data = createTokenData([keys, sessions, ...people.judgedBy], clock);
  const standing = createUserStandings(keys);
  const liveUser = createLiveUsers(users, standing, options.oauth);
  const verifications = createVerificationCounter(registry);
  const clientFailures = createClientFailureCounter(registry);
  const verifier = createTokenVerifier(options.oauth, {
    data,
    keys,
    sessions,
    standing,
    liveUser,
    clock,
    random,
    verifications,
  });
  const clientSecrets = createClientSecrets(options.oauth.clients, { secrets, clock, random, logger: ofCluster });
  const authorizationServer = createAuthorizationServer(options.oauth, {
    data,
    keys,
    sessions,
    users,
    standing,
    liveUser,
    signIn,
    recorder,
    verifier,
    clock,
    random,
    logger,
    registry,
    events,
    clientFailures,
    clientSecrets,
  });
  const { callerTokenFile: file } = options;
  const caller = file === undefined ? undefined : createCallerTokenFile(file, { clock, logger });
  const tokenReviews = createTokenReviewWebhook(options.tokenReview, {
    data,
    verifier,
    standing,
    callerToken: () => caller?.token(),
    clock,
    random,
    registry,
    events,
    clientFailures,
  });
  const bearers = acceptServiceAccounts(options, verifier, {
    cluster,
    clock,
    random,
    logger: ofCluster,
    registry,
    verifications,
  });
  const keyUpkeep = {
    ...NO_UPKEEP,
    parts: [
      { name: 'signing keys', run: keys.run },
      { name: 'signing key rotation', run: rotator.run },
      ...(caller ? [{ name: 'caller token file', run: caller.run }] : []),
    ],
    ages: { lists: {}, revocation: { 'signing-keys': secrets.proofOf(options.keys.secretName) } },
  };
  const clientUpkeep = {
    ...NO_UPKEEP,
    parts: clientSecrets.parts,
    checks:
      clientSecrets.parts.length > 0
        ? [{ name: 'client-secrets', endpoints: ['readyz'] as const, check: clientSecrets.fault }]
        : [],
  };
  // The data that has no reflector to expose its age.
  for (const { ages } of [keyUpkeep, people.upkeep])
    for (const [name, proof] of Object.entries(ages.revocation)) cluster.exposeStaleness(name, proof);
  const checks = dataChecks(
    { fault: keys.fault, missingRight: () => secrets.missingRight(options.keys.secretName) },
    data,
  );
  return {
    routes: oauthFamily(authorizationServer),
    ends: authorizationServer.ends,
    tokenReviews,
    users,
    signIn,
    administrator: people.administrator,
    verifier: bearers.verifier,
    verifications,
    upkeep: allUpkeep([
      people.upkeep,
      sessionUpkeep,
      keyUpkeep,
      clientUpkeep,
      bearers.upkeep,
      { ...NO_UPKEEP, checks },
    ]),
  };
}

const dataChecks = (
  keys: { fault(): string | undefined; missingRight(): string | undefined },
  data: TokenData,
): Upkeep['checks'] => [
  { name: 'signing-key', endpoints: ['readyz'], missingRight: keys.missingRight, check: keys.fault },
  {
    name: 'revocations-fresh',
    endpoints: ['readyz'],
    counts: false, // as the age of mirrors: see `readiness.ts`
    check: data.tooOld,
  },
];

/** Our own verifier, plus the cluster's answer about service accounts where the operator allows them. */
function acceptServiceAccounts(
  { oauth, serviceAccounts: wanted }: Pick<TokenServiceOptions, 'oauth' | 'serviceAccounts'>,
  ours: TokenVerifier,
  parts: Pick<TokenServiceParts, 'cluster' | 'clock' | 'random' | 'logger' | 'registry'> &
    Pick<TokenService, 'verifications'>,
): { readonly verifier: BearerVerifier; readonly upkeep: Upkeep } {
  if (!wanted) return { verifier: ours, upkeep: NO_UPKEEP };
  const { cluster, clock, random, logger, registry, verifications } = parts;
  const keys = new ClusterKeys({ read: cluster.serviceAccountKeys, clock, logger, registry });
  const reviewer = cluster.tokenReviewer;
  const serviceAccounts = new ServiceAccountTokens(wanted.audience, {
    reviewer,
    keys,
    clock,
    random,
    verifications,
    logger,
  });
  return {
    verifier: createBearerVerifier(oauth.issuer, { ours, serviceAccounts }),
    upkeep: { ...NO_UPKEEP, parts: [{ name: 'service account keys', run: keys.run }] },
  };
}
