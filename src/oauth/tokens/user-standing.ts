import { createHash, createHmac } from 'node:crypto';
import { isClusterOwn, type User, type UserDirectory } from '../../users/user.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { isSpared } from '../sessions/session-rules.ts';
import { GONE } from '../sessions/sessions.ts';
import type { TokenClaims } from './claims.ts';
import type { Identity } from './identity.ts';

/** The facts about a user that tokens and their verification need in addition to name and uid. */
interface UserStanding {
  /** The user's groups without those that have a meaning of their own in Kubernetes. */
  readonly groups: readonly string[];
  /** Those groups; absent when there are none. */
  readonly withheldGroups?: readonly string[];
  /** A keyed digest of the password hash; `undefined` without a password. */
  readonly password: string | undefined;
  /** The `pwd` claim that a token would get now; absent for a User object, whose sessions end before its password changes. */
  readonly pwd: string | undefined;
}

export type UserStandings = (user: User) => UserStanding;

/** The identity of a signed-in user, with `system:authenticated`, a group that Kubernetes gives every authenticated user. */
export const identityOf = (
  { name, uid }: User,
  { groups, withheldGroups }: UserStanding,
  { clientId, sid }: { readonly clientId: string; readonly sid: string },
): Identity => ({
  name,
  uid,
  groups: [...groups, 'system:authenticated'],
  clientId,
  sid,
  ...(withheldGroups ? { withheldGroups } : {}),
});

/** The user that a token names, if the token is still valid for that user. */
export type LiveUsers = (claims: TokenClaims) => User | undefined;

/**
 * A user must be in the directory, which has no reserved names, and must not be `Disabled`. The password must be that of the
 * sign-in, also after a restart. The token must not be older than the user's `tokensNotBefore`, unless it is of the session that goes
 * on. `AuthLimitExceeded` does not matter: a throttle never ends valid tokens.
 */
export function createLiveUsers(
  users: UserDirectory,
  standing: UserStandings,
  { maximumClockSkewSeconds }: { readonly maximumClockSkewSeconds: number },
): LiveUsers {
  return (claims) => {
    const user = users.byName(claims.sub);
    const isLive =
      user &&
      user.state !== 'Disabled' &&
      standing(user).pwd === claims.pwd &&
      (claims.iat + maximumClockSkewSeconds >= (user.tokensNotBefore ?? 0) || isSpared(user, claims.sid));
    return isLive ? user : undefined;
  };
}

/** 11 characters of base64url are 66 bits, which is enough to distinguish two hashes of one user. */
const DIGEST_CHARACTERS = 11;

/** Computes the standing of users, once for each `User` value: sources replace the value when the user changes. */
export function createUserStandings(keys: Pick<SigningKeys, 'digestKey'>): UserStandings {
  const known = new WeakMap<User, { readonly key: Buffer | undefined; readonly standing: UserStanding }>();
  return (user) => {
    const key = keys.digestKey();
    const before = known.get(user);
    if (before && before.key === key) return before.standing;
    const password = passwordDigest(user, key);
    const withheldGroups = user.groups.filter(isClusterOwn);
    const standing = {
      groups: user.groups.filter((group) => !isClusterOwn(group)),
      ...(withheldGroups.length > 0 ? { withheldGroups } : {}),
      password,
      pwd: user.isObject ? undefined : password,
    };
    known.set(user, { key, standing });
    return standing;
  };
}

/**
 * A digest of a user's uid, password and disabled state. It is equal on every replica that has the same data of the user, and
 * reveals nothing about them.
 */
export function standingDigest(user: User | undefined, standing: UserStandings): string {
  if (!user) return GONE;
  const words = [user.uid, user.state === 'Disabled', standing(user).password ?? ''];
  return createHash('sha256').update(words.join(':')).digest('base64url').slice(0, DIGEST_CHARACTERS);
}

/** A user at a sign-in: the digest of the standing, and when it was, in seconds. */
export interface SignedInUser {
  readonly standing: string;
  readonly at: number;
}

/** Whether the user is as at the sign-in. The clocks of two replicas may differ by the skew, as for tokens (`createLiveUsers`). */
export const isAsSignedIn = (
  user: User,
  { standing: digest, at }: SignedInUser,
  { standing, skewSeconds }: { readonly standing: UserStandings; readonly skewSeconds: number },
): boolean =>
  user.state !== 'Disabled' &&
  standingDigest(user, standing) === digest &&
  at + skewSeconds >= (user.tokensNotBefore ?? 0);

function passwordDigest(user: User, key: Buffer | undefined): string | undefined {
  if (user.passwordHash === undefined || !key) return undefined;
  const digest = createHmac('sha256', key).update(`password-hash:${user.passwordHash}`).digest('base64url');
  return digest.slice(0, DIGEST_CHARACTERS);
}
