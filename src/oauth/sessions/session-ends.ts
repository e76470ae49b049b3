import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { TokenMetrics } from '../metrics.ts';
import { DEVICE_GRANT, longestTokenSeconds, type OAuthOptions } from '../options.ts';
import { type CutOff, withCutOff, withSessionEnded } from './session-rules.ts';
import { GONE, type SessionStore } from './sessions.ts';

/**
 * Ends sessions early. `session`, `user` and `others` reject when the end could not be written. If a request asked for an end, that
 * request's line of the audit trail says so. Only an end after a change of the user is reported here.
 */
export interface SessionEnds {
  /** Ends one session, with all of its tokens, access tokens included; with the session of a browser, all that began in it. */
  session(user: string, sid: string): Promise<void>;
  /** Ends every session of the user that has issued a token up to now, or up to `iat` if another replica's clock is ahead. */
  user(user: string, iat: number): Promise<void>;
  /**
   * Ends all sessions of the user except `spared`. With `cause`, the digest of a state that the user is about to get, the change to that
   * state ends nothing more.
   */
  others(user: string, spared: string, iat: number, cause?: string): Promise<void>;
  /** Ends one session whose refresh token was reused. Retries until it succeeds, because the token may have been stolen. */
  reused(user: string, sid: string): Promise<void>;
  /**
   * Ends every session of a user who has changed, so that changing back does not make them valid again. Retries until it succeeds.
   * `cause` is a digest of the user's new state: a replica that sees the same change later ends no session that has begun since.
   * With `GONE` all sessions end each time, because another user of the same name may have existed in between.
   */
  changed(user: string, cause: string): Promise<void>;
}

interface EndParts {
  readonly sessions: Pick<SessionStore, 'update'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: TokenMetrics;
  readonly events: SecurityEvents;
}

/** The time between two attempts to end a session that must end. */
const RETRY_MS = 5000;

/**
 * How long an end is remembered, in seconds. Twice the skew is added: the clock of the replica that issued the token may be ahead of
 * ours, and the clock of the replica that forgets the end may be ahead of the clock of the one that checks the token.
 */
export const rememberedSeconds = (options: OAuthOptions): number =>
  Math.max(longestTokenSeconds(options), longestBrowserSeconds(options)) + 2 * options.maximumClockSkewSeconds;

/** How long a browser may show a session that has ended; 0 if people sign in on our pages neither for a client nor for our own page. */
const longestBrowserSeconds = ({ clients, hasPage, browserSessionMaxAgeSeconds: longest }: OAuthOptions): number =>
  hasPage ||
  clients.some(({ redirectURIs, grantTypes }) => redirectURIs.length > 0 || grantTypes.includes(DEVICE_GRANT))
    ? longest
    : 0;

export function createSessionEnds(options: OAuthOptions, parts: EndParts): SessionEnds {
  const remembered = rememberedSeconds(options);
  const now = (): number => Math.floor(parts.clock.now() / 1000);
  const session = async (user: string, sid: string): Promise<void> => {
    const isNew = await parts.sessions.update(user, (current) => {
      if (current.dead.has(sid)) return { outcome: false };
      return { next: withSessionEnded(current, sid, { endedAt: now(), keepUntil: now() + remembered }), outcome: true };
    });
    if (isNew) parts.metrics.revocations.inc({ scope: 'session' });
  };
  const cutOff = async (user: string, iat: number, but: Pick<CutOff, 'spared' | 'cause'> = {}): Promise<void> => {
    const at = Math.max(now(), iat);
    const end = { at, keepUntil: at + remembered, ...but };
    const isNew = await parts.sessions.update(user, (current) => ({
      next: withCutOff(current, end),
      outcome: current.cutOff < at || current.spared !== but.spared,
    }));
    if (isNew) parts.metrics.revocations.inc({ scope: 'user' });
  };
  const cutOffOnce = async (user: string, cause: string): Promise<void> => {
    const isNew = await parts.sessions.update(user, (current) => {
      if (current.cutOffCause === cause && cause !== GONE) return { outcome: false };
      return { next: withCutOff(current, { at: now(), keepUntil: now() + remembered, cause }), outcome: true };
    });
    if (!isNew) return;
    parts.metrics.revocations.inc({ scope: 'user' });
    parts.events.report('user_sessions_ended', { user, reason: cause === GONE ? 'gone' : 'changed' });
  };
  /** The ends that have not been written yet. Each has one timer for its retries, even if it is requested again meanwhile. */
  const waiting = new Set<string>();
  const insist = async (
    key: string,
    end: () => Promise<void>,
    ended: { user: string; sid?: string },
  ): Promise<void> => {
    try {
      await end();
    } catch (error) {
      if (waiting.has(key)) return;
      waiting.add(key);
      parts.logger.error({ err: error, ...ended }, 'a session that must end cannot be ended yet');
      parts.clock.after(RETRY_MS, () => {
        waiting.delete(key);
        void insist(key, end, ended);
      });
    }
  };
  return {
    session,
    user: (user, iat) => cutOff(user, iat),
    others: (user, spared, iat, cause) => cutOff(user, iat, cause === undefined ? { spared } : { spared, cause }),
    reused: (user, sid) => insist(`${user} ${sid}`, () => session(user, sid), { user, sid }),
    changed: (user, cause) => insist(`${user} ${cause}`, () => cutOffOnce(user, cause), { user }),
  };
}
