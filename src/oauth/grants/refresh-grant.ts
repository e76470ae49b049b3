import type { Clock } from '../../runtime/clock.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { parameter } from '../endpoints/form.ts';
import { checkNotWidened, type Grant, type GrantRequest } from '../endpoints/grant.ts';
import { invalidRequest, notAvailable, refused, throttled } from '../endpoints/refusals.ts';
import type { TokenMetrics } from '../metrics.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { judge, type Verdict, withRotation } from '../sessions/session-rules.ts';
import type { SessionChange, SessionStore, UserSessions } from '../sessions/sessions.ts';
import type { Act } from '../tokens/act.ts';
import type { RefreshClaims } from '../tokens/claims.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Imprint, TokenSession } from '../tokens/token-session.ts';
import type { RefreshTokens } from '../tokens/token-verifier.ts';

export interface RefreshGrantParts {
  readonly refreshTokens: RefreshTokens;
  readonly sessions: Pick<SessionStore, 'read' | 'update' | 'knowsEndsOf'>;
  readonly ends: Pick<SessionEnds, 'reused'>;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
  readonly metrics: TokenMetrics;
}

/** The result of a refresh: what the pair of tokens is made from, or why there is none. */
type Outcome =
  | { readonly kind: 'pair'; readonly imprint: Imprint; readonly isReplay: boolean }
  | Exclude<Verdict, { kind: 'rotate' | 'replay' }>;

interface Presentation {
  readonly claims: RefreshClaims;
  readonly session: TokenSession;
  readonly act: Act;
}

/**
 * The refresh grant (RFC 6749 6) with rotation (RFC 9700 4.14.2): a refresh token can be used once; for 30 s, using it again gives
 * the same successor.
 */
export function createRefreshGrant(options: OAuthOptions, parts: RefreshGrantParts): Grant {
  const refresher = new Refresher(options, parts);
  return async (request) => {
    const presentation = present(request, parts);
    checkNotWidened(request.scope, presentation.claims.scope);
    return refresher.refresh(presentation);
  };
}

/**
 * Checks everything about a refresh token that does not depend on its generation. All refusals of the token have the same answer
 * (N-20, N-23).
 */
function present(
  { form, client, act }: GrantRequest,
  { refreshTokens, sessions }: Pick<RefreshGrantParts, 'refreshTokens' | 'sessions'>,
): Presentation {
  const text = parameter(form, 'refresh_token');
  if (text === undefined) throw invalidRequest('the parameter refresh_token is missing');
  const token = refreshTokens(text);
  if (token) act.involves({ user: token.user.name, sid: token.claims.sid });
  if (token?.claims.client_id !== client.name) throw refused('refreshTokenNotValid');
  const { claims, user } = token;
  const { sid, auth_time: authTime, scope } = claims;
  if (!sessions.knowsEndsOf(sid)) {
    act.says({ reason: 'begun_elsewhere' });
    throw refused('refreshTokenNotValid');
  }
  return { claims, act, session: { sid, user, client, authTime, ...(scope === undefined ? {} : { scope }) } };
}

class Refresher {
  readonly #options: OAuthOptions;
  readonly #parts: RefreshGrantParts;

  constructor(options: OAuthOptions, parts: RefreshGrantParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async refresh(presentation: Presentation): Promise<TokenResponse> {
    const { session, act } = presentation;
    const user = session.user.name;
    // Decide on the record in memory first. Only a rotation writes, and its write fails if memory was out of date.
    const seen = this.#decide(this.#parts.sessions.read(user), presentation);
    const outcome = seen.next
      ? await this.#parts.sessions
          .update(user, (current) => this.#decide(current, presentation))
          .catch((error: unknown) => {
            throw notAvailable(error);
          })
      : seen.outcome;
    if (outcome.kind === 'pair') {
      const pair = this.#parts.issuer.pair(session, outcome.imprint);
      if (outcome.isReplay) act.came('replayed');
      return pair;
    }
    if (outcome.kind === 'too_often') throw throttled('tooManyRotations', Math.ceil(outcome.waitMs / 1000));
    if (outcome.kind === 'reused') await this.#endReused(presentation);
    throw refused('refreshTokenNotValid');
  }

  #decide(current: UserSessions, { claims, session }: Presentation): SessionChange<Outcome> {
    const nowMs = this.#parts.clock.now();
    const verdict = judge(current, claims, { nowMs, replayWindowMs: this.#options.refreshReplayWindowSeconds * 1000 });
    if (verdict.kind === 'replay') return { outcome: { kind: 'pair', imprint: verdict.record, isReplay: true } };
    if (verdict.kind !== 'rotate') return { outcome: verdict };
    // The predecessor's `iat` is after the cut-off, and may come from a replica whose clock is ahead. So the new `iat` is never
    // before it.
    const issuedAt = Math.max(Math.floor(nowMs / 1000), claims.iat);
    const imprint = this.#parts.issuer.imprint(claims.gen + 1, issuedAt);
    const keepUntil = this.#parts.issuer.keepUntil(session, imprint);
    const rotated = { ...imprint, rotatedAtMs: nowMs, keepUntil };
    return { next: withRotation(current, session.sid, rotated), outcome: { kind: 'pair', imprint, isReplay: false } };
  }

  /**
   * Ends the session of a reused token. The refusal waits for the first attempt to write the end, but not for the
   * retries (T-14).
   */
  async #endReused({ session: { user, sid }, act }: Presentation): Promise<void> {
    this.#parts.metrics.reuse.inc();
    act.is('refresh_token_reused');
    await this.#parts.ends.reused(user.name, sid);
  }
}
