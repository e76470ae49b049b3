import type { Counter } from 'prom-client';
import type { UserObjects } from '../accounts/directory/user-objects.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { createKeyRotator } from '../oauth/keys/key-rotator.ts';
import { createSigningKeys, type SigningKeyOptions, type SigningKeys } from '../oauth/keys/signing-keys.ts';
import { createVerificationCounter } from '../oauth/metrics.ts';
import type { OAuthOptions } from '../oauth/options.ts';
import type { SessionStore } from '../oauth/sessions/sessions.ts';
import { createTokenData, type TokenData } from '../oauth/token-data.ts';
import { type AccessTokens, createTokenVerifier } from '../oauth/tokens/token-verifier.ts';
import {
  createLiveUsers,
  createUserStandings,
  type LiveUsers,
  type UserStandings,
} from '../oauth/tokens/user-standing.ts';
import type { FirstAdministrator } from '../users/first-administrator.ts';
import { registerUserConflicts } from '../users/metrics.ts';
import { createPasswordSignIn, type PasswordOptions, type PasswordParts } from '../users/password-sign-in.ts';
import type { PasswordSignIn, ThrottleControl } from '../users/sign-in.ts';
import { reservedNames } from '../users/user.ts';
import { createUserDirectory } from '../users/user-directory.ts';
import { allUpkeep, NO_UPKEEP, type Shared, type Upkeep } from './family.ts';
import { createSessions, type SessionOptions } from './session-stores.ts';
import { createUserSources, type UserSourceOptions, type UserSources } from './user-sources.ts';

export interface TokenVerificationOptions {
  readonly oauth: OAuthOptions;
  readonly users: UserSourceOptions;
  /** Names that nobody can sign in as. */
  readonly reservedNames: readonly string[];
  readonly passwords: PasswordOptions;
  readonly keys: SigningKeyOptions;
  readonly sessions: SessionOptions;
}

export interface TokenVerificationParts extends Shared, Pick<PasswordParts, 'bcrypt'> {
  readonly cluster: Pick<Cluster, 'apiServer' | 'secrets' | 'inCluster' | 'mirrorSecrets' | 'exposeStaleness'>;
  /** The users that are objects of the cluster; absent without accounts. */
  readonly objects?: UserObjects | undefined;
}

/** The users, and how they prove with a password who they are. */
interface People {
  /** Everybody who may sign in. */
  readonly users: ReturnType<typeof createUserDirectory>;
  readonly signIn: PasswordSignIn & { readonly throttle: ThrottleControl };
}

/** What judges the tokens that we issue. It is handed on as one value to the endpoints, which declare what they need of it. */
export interface TokenVerification extends People {
  readonly administrator: FirstAdministrator | undefined;
  readonly keys: SigningKeys;
  readonly sessions: SessionStore;
  /** Whether users, keys and sessions are loaded and current. */
  readonly data: TokenData;
  readonly standing: UserStandings;
  readonly liveUser: LiveUsers;
  readonly verifier: AccessTokens;
  /** Counts bearers, by result. */
  readonly verifications: Counter<'result'>;
  /** Its ages are those of the data about sign-outs, revocations and removed users. */
  readonly upkeep: Upkeep;
}

/** Connects users, keys and sessions to the verifier. */
export function createVerification(
  options: TokenVerificationOptions,
  parts: TokenVerificationParts,
): TokenVerification {
  const { cluster, clock, random, registry } = parts;
  const sources = createUserSources(options.users, parts);
  const people = createPeople(options, sources, parts);
  const { keys, upkeep: keyUpkeep } = createRotatedKeys(options.keys, parts);
  const { store: sessions, upkeep: sessionUpkeep } = createSessions(options.sessions, parts);
  const data = createTokenData([keys, sessions, ...sources.judgedBy], clock);
  const standing = createUserStandings(keys);
  const liveUser = createLiveUsers(people.users, standing, options.oauth);
  const verifications = createVerificationCounter(registry);
  const judges = { data, keys, sessions, standing, liveUser, verifications };
  const verifier = createTokenVerifier(options.oauth, { ...judges, clock, random });
  // Keys and users have no reflector here that exposes the age of their data.
  for (const { ages } of [keyUpkeep, sources.upkeep])
    for (const [name, proof] of Object.entries(ages.revocation)) cluster.exposeStaleness(name, proof);
  const upkeep = allUpkeep([sources.upkeep, sessionUpkeep, keyUpkeep]);
  return { ...people, ...judges, administrator: sources.administrator, verifier, upkeep };
}

function createPeople(
  options: Pick<TokenVerificationOptions, 'reservedNames' | 'passwords'>,
  { sources }: UserSources,
  parts: TokenVerificationParts,
): People {
  const { events, registry, objects } = parts;
  const users = createUserDirectory(sources, { events, isReserved: reservedNames(options.reservedNames) });
  if (objects) registerUserConflicts(registry, users);
  return { users, signIn: createPasswordSignIn(options.passwords, { ...parts, users }) };
}

/** The signing keys, and what rotates them on schedule. */
function createRotatedKeys(
  options: SigningKeyOptions,
  { cluster, ...parts }: TokenVerificationParts,
): { readonly keys: SigningKeys; readonly upkeep: Upkeep } {
  const { secrets, apiServer } = cluster;
  const ofCluster = { ...parts, secrets, logger: parts.logger.child({ apiServer }) };
  const keys = createSigningKeys(options, ofCluster);
  const rotator = createKeyRotator(options, { ...ofCluster, keys });
  return {
    keys,
    upkeep: {
      ...NO_UPKEEP,
      parts: [
        { name: 'signing keys', run: keys.run },
        { name: 'signing key rotation', run: rotator.run },
      ],
      ages: { lists: {}, revocation: { 'signing-keys': secrets.proofOf(options.secretName) } },
    },
  };
}
