import type { Clock } from '../../runtime/clock.ts';
import type { User, UserDirectory } from '../../users/user.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionReads } from '../sessions/session-reads.ts';
import { isDead } from '../sessions/session-rules.ts';
import { isAsSignedIn, standingDigest, type UserStandings } from '../tokens/user-standing.ts';
import type { SealedValues } from './sealed-values.ts';

/**
 * The session of a person in a browser: a sealed value in a cookie, which no replica stores (B-27). Only its end is recorded,
 * where the ends of all sessions are. Times are whole seconds.
 */
export interface BrowserSession {
  readonly user: string;
  /** Each password that is entered begins a session of its own, so nobody can know the id before (session fixation). */
  readonly sid: string;
  /** When the password was entered. */
  readonly authTime: number;
  /** When a client last sent the browser here. */
  readonly usedAt: number;
  /** A digest of the user's password and state; with another one the session has ended. */
  readonly standing: string;
  /** The sessions of the same person in this browser before the password was asked for again. A sign-out ends them, too. */
  readonly earlier: readonly string[];
  /** The digest (`consentTo`) of each request that the person has agreed to, the newest last. */
  readonly consents: readonly string[];
}

/** A session that still counts, and its user. */
export interface LiveBrowserSession {
  readonly session: BrowserSession;
  readonly user: User;
}

export interface BrowserSessionParts {
  readonly values: SealedValues<BrowserSession>;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  readonly sessions: SessionReads;
  readonly clock: Clock;
}

export interface BrowserSessions {
  /** The session in this cookie, if it still counts. Needs users and sessions to be loaded. */
  live(cookie: string | undefined): LiveBrowserSession | undefined;
  /** The session in this cookie, even one that has ended: a sign-out needs no more. */
  known(cookie: string | undefined): BrowserSession | undefined;
  /** Whether its end is recorded: by a sign-out, or by any end of all sessions of the user. A session that was only idle has not ended. */
  hasEnded(session: BrowserSession): boolean;
  /** The session of a user who has just entered the password; `before` is that of the cookie. What was agreed to ends with its session. */
  begin(user: User, before: BrowserSession | undefined): BrowserSession;
  /** The value of the cookie. The session counts as used now. */
  seal(session: BrowserSession): string;
}

/** A sign-out ends at most this many earlier sessions, the newest ones. */
const MOST_EARLIER = 8;
/** With so many the cookie stays far below 4 KiB, the most that browsers accept. */
const MOST_CONSENTS = 32;

export function createBrowserSessions(
  options: Pick<OAuthOptions, 'browserSessionMaxAgeSeconds' | 'browserSessionIdleSeconds' | 'maximumClockSkewSeconds'>,
  { values, users, standing, sessions, clock }: BrowserSessionParts,
): BrowserSessions {
  const { browserSessionMaxAgeSeconds: maxAge, browserSessionIdleSeconds: idle } = options;
  const skewSeconds = options.maximumClockSkewSeconds;
  const now = (): number => Math.floor(clock.now() / 1000);
  const known: BrowserSessions['known'] = (cookie) => (cookie === undefined ? undefined : values.open(cookie));
  const hasEnded: BrowserSessions['hasEnded'] = ({ user, sid, authTime }) =>
    !sessions.knowsEndsOf(sid) || isDead(sessions.read(user), { sid, iat: authTime });
  const lasts = (session: BrowserSession): boolean => session.usedAt + idle > now() && !hasEnded(session);
  const live: BrowserSessions['live'] = (cookie) => {
    const session = known(cookie);
    const user = session && users.byName(session.user);
    if (!session || !user) return undefined;
    const signedIn = { standing: session.standing, at: session.authTime };
    const isLive = isAsSignedIn(user, signedIn, { standing, skewSeconds }) && lasts(session);
    return isLive ? { session, user } : undefined;
  };
  return {
    known,
    live,
    hasEnded,
    begin: (user, before) => {
      const isSame = before?.user === user.name;
      return {
        ...{ user: user.name, sid: sessions.newId(), authTime: now(), usedAt: now() },
        standing: standingDigest(user, standing),
        earlier: isSame ? [...before.earlier, before.sid].slice(-MOST_EARLIER) : [],
        consents: isSame && lasts(before) ? before.consents : [],
      };
    },
    seal: (session) => values.seal({ ...session, usedAt: now() }, session.authTime + maxAge - now()),
  };
}

/** The session after the person has agreed to this request. */
export const withConsent = (session: BrowserSession, consent: string): BrowserSession => ({
  ...session,
  consents: [...session.consents.filter((one) => one !== consent), consent].slice(-MOST_CONSENTS),
});
