import type { Clock } from '../../runtime/clock.ts';
import type { User, UserDirectory } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { type AuthorizationCode, type AuthorizationCodes, digestOf } from '../authorize/authorization-code.ts';
import { type Form, parameter } from '../endpoints/form.ts';
import type { Grant, GrantRequest } from '../endpoints/grant.ts';
import { invalidRequest, notAvailable, refused } from '../endpoints/refusals.ts';
import type { Client, OAuthOptions } from '../options.ts';
import { rememberedSeconds, type SessionEnds } from '../sessions/session-ends.ts';
import { isDead, withCutOff } from '../sessions/session-rules.ts';
import { waitPastCutOff } from '../sessions/session-start.ts';
import type { SessionChange, SessionStore, UserSessions } from '../sessions/sessions.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Imprint, TokenSession } from '../tokens/token-session.ts';
import { isAsSignedIn, type UserStandings } from '../tokens/user-standing.ts';

export interface CodeGrantParts {
  readonly codes: Pick<AuthorizationCodes, 'open'>;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  readonly sessions: Pick<SessionStore, 'read' | 'update' | 'knowsEndsOf'>;
  readonly ends: Pick<SessionEnds, 'reused'>;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
}

/** A code whose request and user are as they were when it was issued. */
interface GoodCode {
  readonly code: AuthorizationCode;
  readonly session: TokenSession;
}

/**
 * The authorization code grant (RFC 6749 4.1.3, RFC 7636 4.6). The redemption creates the record of the session, by one
 * compare-and-swap. The record is also the mark of a used code, since each code has a session of its own: a second redemption finds
 * it on any replica and ends the session (RFC 6749 4.1.2, B-42).
 */
export function createCodeGrant(options: OAuthOptions, parts: CodeGrantParts): Grant {
  return async (request) => {
    const good = await goodCode(request, parts, options.maximumClockSkewSeconds);
    const { user } = good.session;
    const { signal } = request.http;
    await waitPastCutOff(user.name, options.maximumClockSkewSeconds, { ...parts, signal });
    return redeem(good, request, options, parts);
  };
}

/** Refuses every fault of a code with one answer (B-43). */
async function goodCode(
  { form, client, act }: GrantRequest,
  parts: CodeGrantParts,
  skewSeconds: number,
): Promise<GoodCode> {
  const text = parameter(form, 'code');
  if (text === undefined) throw invalidRequest('the parameter code is missing');
  const code = parts.codes.open(text);
  if (!code) throw refused('codeNotValid');
  act.involves({ user: code.user, sid: code.sid });
  const user = parts.users.byName(code.user);
  const fault = requestFault(code, form, client) ?? userFault(user, code, { ...parts, skewSeconds });
  if (!user || fault) {
    act.says({ reason: fault });
    throw refused('codeNotValid');
  }
  const { sid, authTime, scope } = code;
  return { code, session: { sid, user, client, authTime, ...(scope === undefined ? {} : { scope }) } };
}

/** Why the code is refused, for the audit trail alone: a code in other hands may have been stolen. */
type CodeFault = 'other_client' | 'other_redirect' | 'wrong_verifier' | 'user_changed' | 'begun_elsewhere';

/** Whether client, redirect address and verifier are those of the authorization request. */
function requestFault(code: AuthorizationCode, form: Form, client: Client): CodeFault | undefined {
  if (code.clientId !== client.name) return 'other_client';
  const given = parameter(form, 'redirect_uri');
  const isSameRedirect = given === undefined ? !code.isRedirectNamed : digestOf(given) === code.redirect;
  if (!isSameRedirect) return 'other_redirect';
  // A client may have become public since.
  const isProven = code.codeChallenge !== undefined || !client.public;
  return isProven && isVerified(code, parameter(form, 'code_verifier')) ? undefined : 'wrong_verifier';
}

/** 43 to 128 unreserved characters (RFC 7636 4.1). */
const VERIFIER = /^[\w.~-]{43,128}$/;

/** A verifier without a challenge is refused as well: an attacker could have removed the challenge (RFC 9700 4.8.2). */
function isVerified({ codeChallenge }: AuthorizationCode, verifier: string | undefined): boolean {
  if (codeChallenge === undefined || verifier === undefined) return codeChallenge === verifier;
  return VERIFIER.test(verifier) && digestOf(verifier) === codeChallenge;
}

/** Whether the user is as at the sign-in, and this process would know if the session had ended. */
function userFault(
  user: User | undefined,
  code: AuthorizationCode,
  { standing, sessions, skewSeconds }: Pick<CodeGrantParts, 'standing' | 'sessions'> & { readonly skewSeconds: number },
): CodeFault | undefined {
  const signedIn = { standing: code.standing, at: code.issuedAt };
  if (!user || !isAsSignedIn(user, signedIn, { standing, skewSeconds })) return 'user_changed';
  return sessions.knowsEndsOf(code.sid) ? undefined : 'begun_elsewhere';
}

type Outcome = { readonly kind: 'redeemed'; readonly imprint: Imprint } | { readonly kind: 'ended' | 'reused' };

async function redeem(
  { code, session }: GoodCode,
  { act }: GrantRequest,
  options: OAuthOptions,
  { sessions, issuer, ends, clock }: CodeGrantParts,
): Promise<TokenResponse> {
  const user = session.user.name;
  const alone = (begun: UserSessions, at: number): UserSessions =>
    withCutOff(begun, { at, keepUntil: at + rememberedSeconds(options), spared: session.sid });
  const decide = (current: UserSessions): SessionChange<Outcome> => {
    if (current.live.has(session.sid) || current.dead.has(session.sid)) return { outcome: { kind: 'reused' } };
    // The code counts as old as the session of the browser: a replica that did not know yet of its end may have issued the code.
    if (isDead(current, { sid: session.sid, iat: code.authTime })) return { outcome: { kind: 'ended' } };
    const issuedAt = Math.max(Math.floor(clock.now() / 1000), code.issuedAt);
    const imprint = issuer.imprint(0, issuedAt);
    const record = {
      ...imprint,
      rotatedAtMs: clock.now(),
      rotationsMs: [],
      keepUntil: issuer.keepUntil(session, imprint),
    };
    const begun = { ...current, live: new Map(current.live).set(session.sid, record) };
    return { next: options.multipleLogin ? begun : alone(begun, issuedAt), outcome: { kind: 'redeemed', imprint } };
  };
  const outcome = await orUnavailable(sessions.update(user, decide));
  if (outcome.kind === 'reused') {
    act.is('code_reused');
    await ends.reused(user, session.sid);
  }
  if (outcome.kind !== 'redeemed') throw refused('codeNotValid');
  if (!options.multipleLogin) act.says({ othersEnded: true });
  return issuer.pair(session, outcome.imprint, code.nonce);
}

/** A failed write changes nothing, and the code is still good (B-45). */
const orUnavailable = <Result>(write: Promise<Result>): Promise<Result> =>
  write.catch((error: unknown) => {
    throw notAvailable(error);
  });
