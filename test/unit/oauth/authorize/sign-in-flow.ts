import { createHash } from 'node:crypto';
import type { TokenResponse } from '../../../../src/oauth/authorization-server.ts';
import type { BrowserAnswer } from '../../../../src/oauth/authorize/browser-answer.ts';
import type { Client, OAuthOptions } from '../../../../src/oauth/options.ts';
import { formRequest, newTestServer, ORIGIN, type TestServer, testOptions } from '../test-server.ts';

export const CALLBACK = 'https://app.example.com/callback?tenant=1';
const SECRET = 'made-up-secret-of-web';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'; // RFC 7636 appendix B

const CODE_GRANTS = ['authorization_code', 'refresh_token'];
const clients: readonly Client[] = [
  ...testOptions.clients,
  {
    ...{ name: 'web', secret: SECRET, public: false, grantTypes: CODE_GRANTS },
    ...{ redirectURIs: [CALLBACK, 'https://app.example.com/other'], postLogoutRedirectURIs: [] },
  },
  {
    ...{ name: 'rival', secret: SECRET, public: false, grantTypes: CODE_GRANTS },
    ...{ redirectURIs: [CALLBACK], postLogoutRedirectURIs: [] },
  },
];

/** An authorization server with clients for browsers. */
export const newBrowserServer = (change: Partial<OAuthOptions> = {}): Promise<TestServer> =>
  newTestServer({ clients, ...change });

const BROWSER = 'browser-of-alice-1234';

/** The parameters of a whole request of `web`. */
const REQUEST = {
  client_id: 'web',
  redirect_uri: CALLBACK,
  response_type: 'code',
  state: 'state of web',
  nonce: 'nonce-1',
  scope: 'openid profile',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};

const endpointOf = ({ server }: TestServer) => {
  if (!server.browser) throw new Error('there is no sign-in by browser');
  return server.browser;
};

const CONTEXT = { ...ORIGIN, signal: new AbortController().signal };

/** Opens `/oauth/authorize`, with this session cookie. */
export const authorize = (
  test: TestServer,
  change: Record<string, string> = {},
  session?: string,
): Promise<BrowserAnswer> => open(test, new URLSearchParams({ ...REQUEST, ...change }).toString(), { session });

/** Opens it with this whole query. */
export const open = (
  test: TestServer,
  query: string,
  { browser = BROWSER, session }: { readonly browser?: string; readonly session?: string | undefined } = {},
): Promise<BrowserAnswer> => endpointOf(test).authorize({ ...CONTEXT, query, browser, session });

type Fields = Record<string, string | undefined>;

/** Posts a form of ours: the sealed value of this page, and these fields. `''` for a cookie means none. */
const postForm =
  (to: 'signIn' | 'newPassword' | 'consent' | 'signOut', usual: Record<string, string>) =>
  (test: TestServer, page: BrowserAnswer, { browser = BROWSER, session, ...form }: Fields = {}) => {
    const request = 'request' in page ? page.request : '';
    const fields = { request, ...usual, ...form } as Record<string, string>;
    const http = { ...CONTEXT, address: '192.0.2.1', userAgent: 'Browser/1' };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    return endpointOf(test)[to]({ ...http, body, session, browser: browser === '' ? undefined : browser });
  };

/** What the form of this page is answered with. */
export const post = postForm('signIn', { username: 'alice', password: 'Made-up-1' });
export const newPassword = postForm('newPassword', { password: 'My-own-1', repeated: 'My-own-1' });
export const decide = postForm('consent', { decision: 'allow' });
export const signOut = postForm('signOut', {});

/** Opens the end session endpoint. */
export const endSession = (
  test: TestServer,
  parameters: Record<string, string> = {},
  session?: string,
): Promise<BrowserAnswer> =>
  endpointOf(test).endSession({
    ...CONTEXT,
    ...{ query: new URLSearchParams(parameters).toString(), browser: BROWSER, session },
  });

/** The parameters with which the browser comes back to the client. */
export function returned(answer: BrowserAnswer): Readonly<Record<string, string>> {
  if (answer.kind !== 'redirect') throw new Error(`the answer is a ${answer.kind}`);
  return Object.fromEntries(new URL(answer.location).searchParams);
}

/** A fresh code for alice. */
export async function newCode(test: TestServer, change: Record<string, string> = {}): Promise<string> {
  const { code = '' } = returned(await post(test, await authorize(test, change)));
  return code;
}

export const redeem = (
  { server }: TestServer,
  code: string,
  change: Record<string, string> = {},
): Promise<TokenResponse> => {
  const form = { grant_type: 'authorization_code', client_id: 'web', client_secret: SECRET, code };
  const all = { ...form, redirect_uri: CALLBACK, code_verifier: VERIFIER, ...change };
  return server.token(formRequest(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))));
};
