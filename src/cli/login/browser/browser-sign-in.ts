import { hash } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import { LoginError } from '../login-error.ts';
import type { ServerCalls } from '../server/server-calls.ts';
import { readMetadata } from '../server/server-metadata.ts';
import type { TokenClient } from '../server/token-client.ts';
import type { SavedSession } from '../session.ts';
import { type Interruptible, untilInterrupted } from '../until-interrupted.ts';
import { type FinalReturn, readAuthorizationReturn } from './authorization-return.ts';
import type { Browser } from './desktop-browser.ts';
import { type LoopbackListener, listenOnLoopback } from './loopback-listener.ts';

/** kubelogin waits as long. It is enough for a password manager and a first password that has to be changed. */
const LONGEST_SIGN_IN_MS = 180_000;

export interface BrowserSignInParts extends Interruptible {
  readonly calls: Pick<ServerCalls, 'call'>;
  readonly tokens: Pick<TokenClient, 'redeem'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly browser: Pick<Browser, 'open'>;
  readonly server: string;
  readonly clientId: string;
  complain(line: string): void;
}

/** Why the server does not sign this client's people in by browser, as a sentence. */
export interface NotOffered {
  readonly notOffered: string;
}

/**
 * Signs a person in by the browser: authorization code with PKCE, and a listener on loopback (RFC 8252, RFC 7636). The browser is
 * sent to the address of the server that the person has named. `loginHint` is the name to begin with. Throws a `LoginError` if
 * the sign-in fails, takes three minutes or is interrupted.
 */
export async function signInByBrowser(
  loginHint: string | undefined,
  parts: BrowserSignInParts,
): Promise<SavedSession | NotOffered> {
  const metadata = await readMetadata(parts.calls);
  if (!metadata?.hasBrowserSignIn) return { notOffered: `${parts.server} has no sign-in by browser` };
  const secrets = newSecrets(parts.random);
  const sent = { state: secrets.state, issuer: metadata.issuer };
  const listener = await listenOnLoopback((query) => readAuthorizationReturn(query, sent));
  try {
    const attempt: Attempt = { ...secrets, loginHint, redirectURI: listener.redirectURI };
    return (await whyNotOffered(attempt, parts)) ?? (await redeemed(attempt, listener, parts));
  } finally {
    listener.close();
  }
}

interface Secrets {
  readonly state: string;
  /** Leaves this process only with the code (RFC 7636 4.1). */
  readonly codeVerifier: string;
}

interface Attempt extends Secrets {
  readonly loginHint: string | undefined;
  readonly redirectURI: string;
}

const newSecrets = (random: Random): Secrets => ({
  state: random.bytes(16).toString('base64url'),
  codeVerifier: random.bytes(32).toString('base64url'),
});

/** The path of the authorization request. It has no scope, so the session is like that of a password. */
function authorizePath(attempt: Attempt, clientId: string, more: Readonly<Record<string, string>> = {}): string {
  const { state, codeVerifier, loginHint, redirectURI } = attempt;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectURI,
    state,
    code_challenge: hash('sha256', codeVerifier, 'base64url'),
    code_challenge_method: 'S256',
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...more,
  });
  return `/oauth/authorize?${query}`;
}

/** The errors that `prompt=none` has for a request with which nothing else is wrong (OpenID Connect Core 3.1.2.6). */
const NEEDS_A_PERSON = ['login_required', 'consent_required', 'interaction_required', 'account_selection_required'];

/**
 * Sends the request once without a person, because the metadata do not say which clients have a sign-in by browser. A person would see
 * the refusal of the client on a page, and nobody would come back to the listener.
 */
async function whyNotOffered(attempt: Attempt, parts: BrowserSignInParts): Promise<NotOffered | undefined> {
  const { calls, server, clientId } = parts;
  const { status, location } = await calls.call({ path: authorizePath(attempt, clientId, { prompt: 'none' }) });
  const error = status === 303 ? URL.parse(location ?? '')?.searchParams.get('error') : undefined;
  if (error && NEEDS_A_PERSON.includes(error)) return undefined;
  return { notOffered: `${server} does not sign people in by browser for the client "${clientId}"` };
}

async function redeemed(
  attempt: Attempt,
  listener: LoopbackListener,
  parts: BrowserSignInParts,
): Promise<SavedSession> {
  const { server, clientId, browser, complain, tokens } = parts;
  const address = server + authorizePath(attempt, clientId);
  const awaited = finalReturn(listener, parts); // from the first line on, Ctrl-C ends it in order
  complain(`waiting for the sign-in at ${server} in the browser; if none opens, open on this machine: ${address}`);
  browser.open(address, (reason) => complain(`no browser was opened, because ${reason}: open the address yourself`));
  const returned = await awaited;
  if (returned.kind === 'refused') throw new LoginError(`the sign-in at ${server} failed: ${returned.reason}`);
  const { codeVerifier, redirectURI } = attempt;
  const session = await tokens.redeem({ code: returned.code, codeVerifier, redirectURI });
  if (session === undefined) throw new LoginError(`${server} does not accept the code that it has sent: sign in again`);
  return session;
}

async function finalReturn({ returned }: LoopbackListener, parts: BrowserSignInParts): Promise<FinalReturn> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const stop = parts.clock.after(LONGEST_SIGN_IN_MS, () =>
    reject(new LoginError('the browser has not come back for three minutes: nobody was signed in')),
  );
  try {
    return await untilInterrupted(Promise.race([returned, late]), parts);
  } finally {
    stop();
  }
}
