import type { Counter } from 'prom-client';
import { createBearerVerifier } from '../authentication/bearer-verifier.ts';
import { ClusterKeys } from '../authentication/cluster-keys.ts';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import { oauthFamily } from '../http/routes/oauth.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { PageSessions } from '../oauth/authorize/page-sessions.ts';
import { type ClientSecrets, createClientSecrets } from '../oauth/client-secrets.ts';
import { type BuiltAuthorizationServer, createAuthorizationServer } from '../oauth/create-authorization-server.ts';
import { type CallerAuthenticationOptions, createCallerTokenFile } from '../oauth/endpoints/caller-authentication.ts';
import { createTokenReviewWebhook, type TokenReviewWebhook } from '../oauth/endpoints/token-review.ts';
import { createClientFailureCounter } from '../oauth/metrics.ts';
import type { BearerVerifier } from '../oauth/tokens/identity.ts';
import type { Logger } from '../observability/logger.ts';
import type { FirstAdministrator } from '../users/first-administrator.ts';
import type { FirstPasswords } from '../users/first-passwords.ts';
import type { PasswordSignIn, SignInRecorder, ThrottleControl } from '../users/sign-in.ts';
import type { EmailOwners, UserDirectory } from '../users/user.ts';
import { createDeviceRecordStore } from './device-records.ts';
import { allUpkeep, type Family, NO_UPKEEP, type Upkeep } from './family.ts';
import {
  createVerification,
  type TokenVerification,
  type TokenVerificationOptions,
  type TokenVerificationParts,
} from './token-verification.ts';

export interface TokenServiceOptions extends TokenVerificationOptions {
  readonly tokenReview: CallerAuthenticationOptions;
  /** The bearer of those who call the TokenReview webhook. */
  readonly callerTokenFile?: string | undefined;
  /** Absent when service accounts of the cluster may not call. */
  readonly serviceAccounts?: { readonly audience: string } | undefined;
}

export interface TokenServiceParts extends TokenVerificationParts {
  readonly cluster: TokenVerificationParts['cluster'] & Pick<Cluster, 'tokenReviewer' | 'serviceAccountKeys'>;
  /** Records who signed in; absent when nobody records it. */
  readonly recorder?: SignInRecorder | undefined;
  /** Sets first passwords on the sign-in page; `undefined` before the account API is made, and without one. */
  firstPasswords(): FirstPasswords | undefined;
}

/** Who may sign in, the tokens that they get, and the verifier of every call. */
export interface TokenService extends Family {
  /** Used by code that changes users: it ends their sessions before it writes the change. */
  readonly ends: BuiltAuthorizationServer['ends'];
  readonly tokenReviews: TokenReviewWebhook;
  /** Everybody who may sign in. */
  readonly users: UserDirectory & EmailOwners;
  /** Used by code that changes passwords, so that it has the gate and the throttle of a sign-in. */
  readonly signIn: PasswordSignIn & { readonly throttle: ThrottleControl };
  readonly administrator: FirstAdministrator | undefined;
  /** The verifier of the API; /oauth accepts our own tokens only. */
  readonly verifier: BearerVerifier;
  /** Who calls when a page of ours calls, and what it does with its session. */
  readonly pageSessions: PageSessions;
  /** Counts bearers, by result. The API port adds the requests that it refuses without verification. */
  /** Calls `changed` with the name of a user who may no longer be signed in: the user, or a session of the user, has changed. */
  onCallerChange(changed: (user: string) => void): void;
  readonly verifications: Counter<'result'>;
  /** Its ages are those of the data about sign-outs, revocations and removed users. */
  readonly upkeep: Upkeep;
}

/** Connects users, keys and sessions to the authorization server and the verifier. */
export function createTokenService(options: TokenServiceOptions, parts: TokenServiceParts): TokenService {
  const verification = createVerification(options, parts);
  const endpoints = createEndpoints(options, verification, parts);
  const bearers = acceptServiceAccounts(options, verification, parts);
  const { authorizationServer, tokenReviews } = endpoints;
  const { users, signIn, administrator, verifications } = verification;
  return {
    routes: oauthFamily(authorizationServer, options.oauth.issuer),
    ends: authorizationServer.ends,
    tokenReviews,
    users,
    signIn,
    administrator,
    verifier: bearers.verifier,
    pageSessions: authorizationServer.pageSessions,
    onCallerChange: (changed) => {
      users.onChange(changed);
      verification.sessions.onChange(changed);
    },
    verifications,
    upkeep: allUpkeep([
      verification.upkeep,
      endpoints.upkeep,
      bearers.upkeep,
      { ...NO_UPKEEP, checks: dataChecks(options, verification, parts) },
    ]),
  };
}

/** What answers under /oauth, and what keeps the secrets of its clients and callers current. */
interface Endpoints {
  readonly authorizationServer: BuiltAuthorizationServer;
  readonly tokenReviews: TokenReviewWebhook;
  readonly upkeep: Upkeep;
}

function createEndpoints(
  options: TokenServiceOptions,
  verification: TokenVerification,
  parts: TokenServiceParts,
): Endpoints {
  const { oauth, callerTokenFile: file } = options;
  const { secrets } = parts.cluster;
  const shared = { ...parts, ...verification, clientFailures: createClientFailureCounter(parts.registry) };
  const clientSecrets = createClientSecrets(oauth.clients, { ...parts, secrets, logger: clusterLogger(parts) });
  const { deviceRecords, upkeep: deviceUpkeep } = createDeviceRecordStore(options, shared);
  const authorizationServer = createAuthorizationServer(oauth, { ...shared, clientSecrets, deviceRecords });
  const caller = file === undefined ? undefined : createCallerTokenFile(file, parts);
  const callerToken = (): string | undefined => caller?.token();
  return {
    authorizationServer,
    tokenReviews: createTokenReviewWebhook(options.tokenReview, { ...shared, callerToken }),
    upkeep: allUpkeep([
      { ...NO_UPKEEP, parts: caller ? [{ name: 'caller token file', run: caller.run }] : [] },
      upkeepOfClients(clientSecrets),
      deviceUpkeep,
    ]),
  };
}

const upkeepOfClients = ({ parts, fault }: ClientSecrets): Upkeep => ({
  ...NO_UPKEEP,
  parts,
  checks: parts.length > 0 ? [{ name: 'client-secrets', endpoints: ['readyz'], check: fault }] : [],
});

const dataChecks = (
  { keys: { secretName } }: Pick<TokenServiceOptions, 'keys'>,
  { keys, data }: Pick<TokenVerification, 'keys' | 'data'>,
  { cluster: { secrets } }: Pick<TokenServiceParts, 'cluster'>,
): Upkeep['checks'] => [
  {
    name: 'signing-key',
    endpoints: ['readyz'],
    missingRight: () => secrets.missingRight(secretName),
    check: keys.fault,
  },
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
  { verifier: ours, verifications }: Pick<TokenVerification, 'verifier' | 'verifications'>,
  parts: TokenServiceParts,
): { readonly verifier: BearerVerifier; readonly upkeep: Upkeep } {
  if (!wanted) return { verifier: ours, upkeep: NO_UPKEEP };
  const { serviceAccountKeys: read, tokenReviewer: reviewer } = parts.cluster;
  const { clock, random, registry } = parts;
  const logger = clusterLogger(parts);
  const keys = new ClusterKeys({ read, clock, logger, registry });
  const reviews = { reviewer, keys, clock, random, verifications, logger };
  const serviceAccounts = new ServiceAccountTokens(wanted.audience, reviews);
  return {
    verifier: createBearerVerifier(oauth.issuer, { ours, serviceAccounts }),
    upkeep: { ...NO_UPKEEP, parts: [{ name: 'service account keys', run: keys.run }] },
  };
}

/** A logger that names the API server in every line. */
const clusterLogger = ({ cluster, logger }: Pick<TokenServiceParts, 'cluster' | 'logger'>): Logger =>
  logger.child({ apiServer: cluster.apiServer });
