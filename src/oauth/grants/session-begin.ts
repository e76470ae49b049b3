import type { Clock } from '../../runtime/clock.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { notAvailable } from '../endpoints/refusals.ts';
import type { OAuthOptions } from '../options.ts';
import { rememberedSeconds } from '../sessions/session-ends.ts';
import { isDead, wasAlive, withCutOff } from '../sessions/session-rules.ts';
import { waitPastCutOff } from '../sessions/session-start.ts';
import type { SessionChange, SessionStore, UserSessions } from '../sessions/sessions.ts';
import type { Act } from '../tokens/act.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Imprint, TokenSession } from '../tokens/token-session.ts';

export interface SessionBeginParts {
  readonly sessions: Pick<SessionStore, 'read' | 'update'>;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
}

/** A session whose id a code has named. */
interface NamedSession {
  readonly session: TokenSession;
  /** In seconds. If all sessions of the user ended in or after this second, the session does not begin. */
  readonly allowedAt: number;
  /** The browser session in which the person allowed it, unless the id of the session begins with it. */
  readonly allowedIn?: { readonly sid: string; readonly authTime: number };
  /** When its code was issued, by a clock that may be ahead of ours. */
  readonly codeIssuedAt: number;
  readonly nonce?: string | undefined;
}

/** `reused`: the session has begun before. `ended`: all sessions of the user, or that of the browser, had ended. */
type Begun = { readonly kind: 'begun'; readonly tokens: TokenResponse } | { readonly kind: 'ended' | 'reused' };

/** Begins the session. Throws a 503 if that could not be written; then nothing has changed. */
export type BeginSession = (
  named: NamedSession,
  request: { readonly act: Act; readonly signal: AbortSignal },
) => Promise<Begun>;

/**
 * Begins a session that a code has named, by one compare-and-swap: it creates the record of the session, which is also the mark of
 * the used code. A second redemption finds it on any replica.
 */
export const createSessionBegin =
  (options: OAuthOptions, parts: SessionBeginParts): BeginSession =>
  async (named, { act, signal }) => {
    const { session, nonce } = named;
    const user = session.user.name;
    await waitPastCutOff(user, options.maximumClockSkewSeconds, { ...parts, signal });
    const outcome = await parts.sessions.update(user, createDecision(named, options, parts)).catch((error: unknown) => {
      throw notAvailable(error);
    });
    if (outcome.kind !== 'begun') return { kind: outcome.kind };
    if (!options.multipleLogin) act.says({ othersEnded: true });
    return { kind: 'begun', tokens: parts.issuer.pair(session, outcome.imprint, nonce) };
  };

type Outcome = { readonly kind: 'begun'; readonly imprint: Imprint } | { readonly kind: 'ended' | 'reused' };

function createDecision(
  { session, allowedAt, allowedIn, codeIssuedAt }: NamedSession,
  options: OAuthOptions,
  { issuer, clock }: SessionBeginParts,
): (current: UserSessions) => SessionChange<Outcome> {
  const alone = (begun: UserSessions, at: number): UserSessions =>
    withCutOff(begun, { at, keepUntil: at + rememberedSeconds(options), spared: session.sid });
  return (current) => {
    if (current.live.has(session.sid) || current.dead.has(session.sid)) return { outcome: { kind: 'reused' } };
    if (isDead(current, { sid: session.sid, iat: allowedAt })) return { outcome: { kind: 'ended' } };
    // The replica at which the person allowed it may not have known yet of the end of that browser session.
    if (allowedIn && !wasAlive(current, { sid: allowedIn.sid, iat: allowedIn.authTime }, allowedAt))
      return { outcome: { kind: 'ended' } };
    const issuedAt = Math.max(Math.floor(clock.now() / 1000), codeIssuedAt);
    const imprint = issuer.imprint(0, issuedAt);
    const record = {
      ...imprint,
      rotatedAtMs: clock.now(),
      rotationsMs: [],
      keepUntil: issuer.keepUntil(session, imprint),
    };
    const begun = { ...current, live: new Map(current.live).set(session.sid, record) };
    return { next: options.multipleLogin ? begun : alone(begun, issuedAt), outcome: { kind: 'begun', imprint } };
  };
}
