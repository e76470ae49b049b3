import type { Clock } from '../../runtime/clock.ts';
import type { OAuthOptions } from '../options.ts';
import type { Origin } from '../tokens/act.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { PageCallers } from './page-callers.ts';

/** A session that counts as used now. Times are whole seconds since 1970. */
interface RenewedSession {
  /** The new value of the cookie. */
  readonly cookie: string;
  /** When the password was entered. */
  readonly startedAt: number;
  /** When it ends however much it is used. */
  readonly endsAt: number;
  /** When it ends if it is not used again. */
  readonly idleEndsAt: number;
}

/** Somebody who leaves the page. */
interface Leaving extends Origin {
  /** The value of the session's cookie. */
  readonly session: string;
  /** Whether all sessions of the user end. */
  readonly everywhere: boolean;
}

/** What the page does with the session of its browser. */
export interface PageSessions extends PageCallers {
  /** `undefined`: the session no longer counts. Needs users and sessions to be loaded. */
  renew(cookie: string): RenewedSession | undefined;
  /** Ends the session, and all that began in it. Rejects with an `OAuthError` when the end cannot be written. */
  signOut(leaving: Leaving): Promise<void>;
}

type Limits = Pick<OAuthOptions, 'browserSessionMaxAgeSeconds' | 'browserSessionIdleSeconds'>;

/** The session goes on as after a visit of a sign-in page (B-28), and never longer than its greatest age. */
export const createRenewal =
  (
    { browserSessionMaxAgeSeconds: maxAge, browserSessionIdleSeconds: idle }: Limits,
    { live, seal }: Pick<BrowserSessions, 'live' | 'seal'>,
    clock: Pick<Clock, 'now'>,
  ): PageSessions['renew'] =>
  (cookie) => {
    const session = live(cookie)?.session;
    if (!session) return undefined;
    const { authTime: startedAt } = session;
    const endsAt = startedAt + maxAge;
    const idleEndsAt = Math.min(Math.floor(clock.now() / 1000) + idle, endsAt);
    return { cookie: seal(session), startedAt, endsAt, idleEndsAt };
  };
