import type { Counter, Registry } from 'prom-client';
import { createBearerVerifier } from '../authentication/bearer-verifier.ts';
import { ClusterKeys } from '../authentication/cluster-keys.ts';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import type { Config } from '../config/config.ts';
import type { HealthCheck } from '../http/health.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { Freshness } from '../kubernetes/reflector/freshness.ts';
import type { AuthorizationServer } from '../oauth/authorization-server.ts';
import { createAuthorizationServer } from '../oauth/create-authorization-server.ts';
import { createCallerTokenFile } from '../oauth/endpoints/caller-token-file.ts';
import { createTokenReviews, type TokenReviews } from '../oauth/endpoints/token-review.ts';
import { createKeyRotator } from '../oauth/keys/key-rotator.ts';
import { createSigningKeys } from '../oauth/keys/signing-keys.ts';
import { createClientFailureCounter, createVerificationCounter } from '../oauth/metrics.ts';
import type { BearerVerifier, TokenVerifier } from '../oauth/tokens/identity.ts';
import { createTokenVerifier } from '../oauth/tokens/token-verifier.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { SecurityEvents } from '../security-events.ts';
import { createPasswordSignIn, type PasswordParts } from '../users/password-sign-in.ts';
import { createUserDirectory } from '../users/user-directory.ts';
import {
  toOAuthOptions,
  toPasswordOptions,
  toServiceAccountOptions,
  toSigningKeyOptions,
  toTokenReviewOptions,
} from './options.ts';
import type { Part } from './run-group.ts';
import { createSessions } from './session-stores.ts';
import { createUserSources } from './user-sources.ts';

export interface TokenServiceParts extends Pick<PasswordParts, 'bcrypt'> {
  readonly cluster: Pick<
    Cluster,
    'secrets' | 'inCluster' | 'mirrorSecrets' | 'tokenReviewer' | 'serviceAccountKeys' | 'exposeStaleness'
  >;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
}

/** Who may sign in, the tokens that they get, and the verifier of every call. */
export interface TokenService {
  readonly authorizationServer: AuthorizationServer;
  readonly tokenReviews: TokenReviews;
  /** For the API; /oauth knows our own tokens only. */
  readonly verifier: BearerVerifier;
  /** Counts bearers, by result. The API counts those that need no verification. */
  readonly verifications: Counter<'result'>;
  readonly parts: readonly Part[];
  readonly checks: readonly HealthCheck[];
  readonly reflectors: Readonly<Record<string, Freshness>>;
  /** The ages of the data about sign-outs, revocations and removed users, by name. */
  readonly stalenessMs: Readonly<Record<string, () => number>>;
}

/** Connects users, keys and sessions to the authorization server and the verifier. */
export function createTokenService(config: Config, parts: TokenServiceParts): TokenService {
  const { secrets, inCluster } = parts.cluster;
  const people = createUserSources(config, inCluster, { ...parts, secrets });
  const users = createUserDirectory(people.sources, parts);
  const signIn = createPasswordSignIn(toPasswordOptions(config), { ...parts, users });
  const keyOptions = toSigningKeyOptions(config);
  const keys = createSigningKeys(keyOptions, { ...parts, secrets });
  const sessions = createSessions(config, parts);
  const options = toOAuthOptions(config);
  const verifications = createVerificationCounter(parts.registry);
  const known = { usersFault: people.fault, usersTooOld: people.tooOld };
  const clientFailures = createClientFailureCounter(parts.registry);
  const shared = { ...parts, clientFailures, users, ...known, keys, sessions: sessions.store, verifications };
  const verifier = createTokenVerifier(options, shared);
  const { callerTokenFile } = config.authentication.tokenReview;
  const caller = callerTokenFile === undefined ? undefined : createCallerTokenFile(callerTokenFile, parts);
  const bearers = acceptServiceAccounts(config, verifier, shared);
  const callerToken = (): string | undefined => caller?.token();
  // The data that has no reflector to expose its age.
  const secretsStalenessMs = {
    'signing-keys': () => secrets.stalenessMs(keyOptions.secretName),
    ...people.stalenessMs,
  };
  for (const [name, read] of Object.entries(secretsStalenessMs)) parts.cluster.exposeStaleness(name, read);
  return {
    authorizationServer: createAuthorizationServer(options, { ...shared, signIn, verifier }),
    tokenReviews: createTokenReviews(toTokenReviewOptions(config), { ...shared, verifier, callerToken }),
    verifier: bearers.verifier,
    verifications,
    parts: [
      ...people.parts,
      ...sessions.parts,
      { name: 'signing keys', run: keys.run },
      { name: 'signing key rotation', run: createKeyRotator(keyOptions, { ...parts, secrets, keys }).run },
      ...(caller ? [{ name: 'caller token file', run: caller.run }] : []),
      ...bearers.parts,
    ],
    reflectors: sessions.reflectors,
    stalenessMs: { ...sessions.stalenessMs, ...secretsStalenessMs },
    checks: [
      ...people.checks,
      ...sessions.checks,
      { name: 'signing-key', endpoints: ['readyz'], check: keys.ready },
      {
        name: 'revocations-fresh',
        endpoints: ['readyz'],
        counts: false, // like the age of mirrors: see `readiness.ts`
        check: () => keys.tooOld() ?? sessions.store.tooOld() ?? people.tooOld(),
      },
    ],
  };
}

/** Our own verifier, plus the cluster's answer about service accounts where the operator lets them in. */
function acceptServiceAccounts(
  config: Config,
  ours: TokenVerifier,
  parts: TokenServiceParts & Pick<TokenService, 'verifications'>,
): { readonly verifier: BearerVerifier; readonly parts: readonly Part[] } {
  const options = toServiceAccountOptions(config);
  if (!options) return { verifier: ours, parts: [] };
  const { tokenReviewer: reviewer, serviceAccountKeys: read } = parts.cluster;
  const keys = new ClusterKeys({ ...parts, read });
  const serviceAccounts = new ServiceAccountTokens(options.audience, { ...parts, reviewer, keys });
  const verifier = createBearerVerifier(config.authentication.oauthOptions.issuer, { ours, serviceAccounts });
  return { verifier, parts: [{ name: 'service account keys', run: keys.run }] };
}
