import type { User, UserDirectory } from '../../users/user.ts';
import { type AuthorizationCode, type AuthorizationCodes, digestOf } from '../authorize/authorization-code.ts';
import { type Form, parameter } from '../endpoints/form.ts';
import type { Grant, GrantRequest } from '../endpoints/grant.ts';
import { invalidRequest, refused } from '../endpoints/refusals.ts';
import type { Client, OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenSession } from '../tokens/token-session.ts';
import { isAsSignedIn, type UserStandings } from '../tokens/user-standing.ts';
import { createSessionBegin, type SessionBeginParts } from './session-begin.ts';

export interface CodeGrantParts extends SessionBeginParts {
  readonly codes: Pick<AuthorizationCodes, 'open'>;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  readonly sessions: Pick<SessionStore, 'read' | 'update' | 'knowsEndsOf'>;
  readonly ends: Pick<SessionEnds, 'reused'>;
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
  const begin = createSessionBegin(options, parts);
  return async (request) => {
    const { act, http } = request;
    const { code, session } = await goodCode(request, parts, options.maximumClockSkewSeconds);
    const { signal } = http;
    // A replica that did not know yet of an end may have issued the code, so the code counts as old as the password.
    const named = { session, allowedAt: code.authTime, codeIssuedAt: code.issuedAt, nonce: code.nonce };
    const begun = await begin(named, { act, signal });
    if (begun.kind === 'begun') return begun.tokens;
    if (begun.kind === 'reused') {
      act.is('code_reused');
      await parts.ends.reused(session.user.name, session.sid);
    }
    throw refused('codeNotValid');
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
  // The time of the password, as in `createCodeGrant`.
  const signedIn = { standing: code.standing, at: code.authTime };
  if (!user || !isAsSignedIn(user, signedIn, { standing, skewSeconds })) return 'user_changed';
  return sessions.knowsEndsOf(code.sid) ? undefined : 'begun_elsewhere';
}
