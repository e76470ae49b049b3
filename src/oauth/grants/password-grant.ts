import type { Clock } from '../../runtime/clock.ts';
import type { PasswordSignIn, SignInRecorder } from '../../users/sign-in.ts';
import type { User } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { parameter } from '../endpoints/form.ts';
import type { Grant, GrantRequest } from '../endpoints/grant.ts';
import { invalidRequest, notAvailable, refused, throttled } from '../endpoints/refusals.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';

export interface PasswordGrantParts {
  readonly signIn: Pick<PasswordSignIn, 'signIn' | 'userOf'>;
  readonly recorder?: SignInRecorder | undefined;
  readonly sessions: Pick<SessionStore, 'newId' | 'read'>;
  readonly ends: Pick<SessionEnds, 'others'>;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
}

/** The password grant (RFC 6749 4.3). A sign-in writes nothing, unless it has to end the user's other sessions. */
export function createPasswordGrant(options: OAuthOptions, parts: PasswordGrantParts): Grant {
  return async (request) => begin(await signedInUser(request, parts), request, options, parts);
}

async function signedInUser(
  { form, http, act }: GrantRequest,
  { signIn, recorder }: Pick<PasswordGrantParts, 'signIn' | 'recorder'>,
): Promise<User> {
  const username = parameter(form, 'username');
  const password = parameter(form, 'password');
  if (username === undefined) throw invalidRequest('the parameter username is missing');
  const named = signIn.userOf(username);
  act.involves({ user: named?.name });
  if (password === undefined) throw invalidRequest('the parameter password is missing');
  const result = await signIn.signIn({ username, password, source: http.source, signal: http.signal });
  const user = result.kind === 'ok' ? result.user : named;
  const outcome = RECORDED[result.kind];
  const { address = http.source, userAgent = '' } = http;
  if (user && outcome) recorder?.record({ user, outcome, address, userAgent });
  if (result.kind === 'ok') return result.user;
  act.came(result.kind);
  throw result.kind === 'refused'
    ? refused('incorrectPassword')
    : throttled('signInThrottled', result.retryAfterSeconds);
}

/** The outcome in the login records, by the result of the sign-in. `busy` is not recorded: a full queue is not the user's failure. */
const RECORDED = { ok: 'succeeded', refused: 'incorrect_password', throttled: 'throttled', busy: undefined } as const;

async function begin(
  user: User,
  { client, scope, http, act }: GrantRequest,
  options: OAuthOptions,
  parts: PasswordGrantParts,
): Promise<TokenResponse> {
  const sid = parts.sessions.newId();
  const longestMs = (options.maximumClockSkewSeconds + 1) * 1000;
  if (options.multipleLogin) await waitPastCutOff(user, longestMs, parts, http.signal);
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

/**
 * Waits until the second in which the user's sessions were ended is over, because a token issued in that second would be refused.
 * That takes at most a second, plus the clock skew of another replica. A longer wait means that a clock was set back, perhaps by
 * hours; then the request fails instead.
 */
async function waitPastCutOff(
  user: User,
  longestMs: number,
  parts: Pick<PasswordGrantParts, 'sessions' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const leftMs = (): number => (parts.sessions.read(user.name).cutOff + 1) * 1000 - parts.clock.now();
  // A timer may fire a millisecond too early by the wall clock, so check again after each wait.
  for (let waitMs = leftMs(); waitMs > 0 && !signal.aborted; waitMs = leftMs()) {
    if (waitMs > longestMs) throw notAvailable(new Error('the clock was set back behind the end of earlier sessions'));
    await parts.clock.sleep(waitMs, signal);
  }
}
