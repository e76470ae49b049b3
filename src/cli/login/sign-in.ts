import { type BrowserSignInParts, signInByBrowser } from './browser/browser-sign-in.ts';
import type { Browser } from './browser/desktop-browser.ts';
import { type DeviceSignInParts, signInByDevice } from './device/device-sign-in.ts';
import type { LoginRequest } from './login-arguments.ts';
import { LoginError } from './login-error.ts';
import type { TokenClient } from './server/token-client.ts';
import type { SavedSession } from './session.ts';
import { type InputParts, signInInput } from './sign-in-input.ts';

export interface LoginParts extends InputParts, BrowserSignInParts, DeviceSignInParts {
  readonly tokens: Pick<TokenClient, 'signIn' | 'redeem' | 'startDevice' | 'pollDevice' | 'emailOf' | 'revoke'>;
  readonly browser: Browser;
}

/**
 * Signs a person in, in the way that the request names. By default this is the browser where one can be opened and the server offers it,
 * else a password. A password file is for programs, which have no browser. `before` is the session that has ended. Throws a
 * `LoginError`.
 */
export async function signIn(
  request: LoginRequest,
  before: SavedSession | undefined,
  parts: LoginParts,
): Promise<SavedSession> {
  const { way, passwordFile, username } = request;
  if (way === 'device') return ofUser(username, await signInByDevice(parts), parts);
  const isByBrowser = way === 'browser' || (way === undefined && passwordFile === undefined && parts.browser.isThere);
  if (!isByBrowser) return signInByPassword(request, before, parts);
  const session = await signInByBrowser(username ?? before?.username, parts);
  if (!('notOffered' in session)) return ofUser(username, session, parts);
  if (way === 'browser') throw new LoginError(session.notOffered);
  return signInByPassword(request, before, parts);
}

async function signInByPassword(
  request: LoginRequest,
  before: SavedSession | undefined,
  parts: LoginParts,
): Promise<SavedSession> {
  const { username, password } = await signInInput(request, before, parts);
  const session = await parts.tokens.signIn(username, password);
  if (session === undefined) throw new LoginError(`wrong user name or password for ${username} at ${parts.server}`);
  return session;
}

/**
 * The session under the name that the command line has for it. A page lets anybody sign in, so somebody else's session is ended: a
 * kubeconfig that names a user must not act as another one.
 */
async function ofUser(
  wanted: string | undefined,
  session: SavedSession,
  { tokens, server }: LoginParts,
): Promise<SavedSession> {
  if (wanted === undefined || isSame(wanted, session.username)) return session;
  if (wanted.includes('@') && isSame(wanted, await tokens.emailOf(session))) return { ...session, username: wanted };
  await tokens.revoke(session);
  throw new LoginError(`${session.username} has signed in at ${server} and not ${wanted}: nobody is signed in here`);
}

const isSame = (one: string, other: string | undefined): boolean => one.toLowerCase() === other?.toLowerCase();
