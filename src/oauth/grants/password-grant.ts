import type { Clock } from '../../runtime/clock.ts';
import type { User } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { parameter } from '../endpoints/form.ts';
import type { Grant, GrantRequest } from '../endpoints/grant.ts';
import { checkPassword, type PasswordCheckParts } from '../endpoints/password-check.ts';
import { invalidRequest, notAvailable, refused, throttled } from '../endpoints/refusals.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { waitPastCutOff } from '../sessions/session-start.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';

export interface PasswordGrantParts extends PasswordCheckParts {
  readonly sessions: Pick<SessionStore, 'newId' | 'read'>;
  readonly ends: Pick<SessionEnds, 'others'>;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
}

/** The password grant (RFC 6749 4.3). A sign-in writes nothing, unless it has to end the user's other sessions. */
export function createPasswordGrant(options: OAuthOptions, parts: PasswordGrantParts): Grant {
  return async (request) => begin(await signedInUser(request, parts), request, options, parts);
}

async function signedInUser({ form, http, act }: GrantRequest, parts: PasswordCheckParts): Promise<User> {
  const username = parameter(form, 'username');
  const password = parameter(form, 'password');
  if (username === undefined) throw invalidRequest('the parameter username is missing');
  if (password === undefined) {
    act.involves({ user: parts.signIn.userOf(username)?.name });
    throw invalidRequest('the parameter password is missing');
  }
  const result = await checkPassword({ by: 'password_grant', username, password, http, act }, parts);
  if (result.kind === 'ok') return result.user;
  throw result.kind === 'refused'
    ? refused('incorrectPassword')
    : throttled('signInThrottled', result.retryAfterSeconds);
}

async function begin(
  user: User,
  { client, scope, http, act }: GrantRequest,
  options: OAuthOptions,
  parts: PasswordGrantParts,
): Promise<TokenResponse> {
  const sid = parts.sessions.newId();
  const { signal } = http;
  if (options.multipleLogin) await waitPastCutOff(user.name, options.maximumClockSkewSeconds, { ...parts, signal });
  const issuedAt = Math.floor(parts.clock.now() / 1000);
  const session = { sid, user, client, authTime: issuedAt, ...(scope === undefined ? {} : { scope }) };
  const pair = parts.issuer.pair(session, parts.issuer.imprint(0, issuedAt));
  if (!options.multipleLogin) {
    await parts.ends.others(user.name, sid, issuedAt).catch((error: unknown) => {
      throw notAvailable(error);
    });
    act.says({ othersEnded: true });
  }
  act.involves({ user: user.name, sid });
  return pair;
}
