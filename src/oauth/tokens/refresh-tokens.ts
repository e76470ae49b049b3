import type { Clock } from '../../runtime/clock.ts';
import type { User } from '../../users/user.ts';
import type { OAuthOptions } from '../options.ts';
import { type RefreshClaims, toRefreshClaims } from './claims.ts';
import type { TokenCheck } from './token-check.ts';
import type { LiveUsers } from './user-standing.ts';

interface RefreshToken {
  readonly claims: RefreshClaims;
  readonly user: User;
}

/** Checks a refresh token apart from its session: whether that has ended or rotated is left to the session record. */
export type RefreshTokens = (text: string) => RefreshToken | undefined;

export interface RefreshTokenParts {
  /** The check of refresh tokens. */
  readonly check: TokenCheck;
  readonly liveUser: LiveUsers;
  readonly clock: Clock;
}

/** Checks the text, signature and claims, then the user, then the age of the session, counted from its sign-in. */
export function createRefreshTokens(options: OAuthOptions, parts: RefreshTokenParts): RefreshTokens {
  return (text) => {
    const checked = parts.check(text);
    const claims = 'claims' in checked ? toRefreshClaims(checked.claims) : undefined;
    const user = claims && parts.liveUser(claims);
    if (!claims || !user) return undefined;
    const endsAt = claims.auth_time + options.sessionMaxAgeSeconds;
    return endsAt * 1000 > parts.clock.now() ? { claims, user } : undefined;
  };
}
