import { createHash } from 'node:crypto';
import type { Ask } from '../load/connection.ts';
import { BENCH_CLIENT, tokenAsk } from './gatehouse.ts';

/** What browsers and a client with a sign-in by browser send. */

const CALLBACK = 'https://app.example.com/callback';

/** The setting `authentication.oauthOptions` with the client of the bench, which may use every grant. */
export const BROWSER_CLIENTS = {
  clients: [{ name: BENCH_CLIENT.client_id, secret: BENCH_CLIENT.client_secret, redirectURIs: [CALLBACK] }],
};

/** A made-up code verifier (RFC 7636 4.1). */
const VERIFIER = 'made-up-verifier-of-the-bench-with-43-or-more-letters';

/** With it a session has ID tokens. */
export const SCOPE = 'openid profile';

/** The query of an authorization request with PKCE. It has a state and a nonce of a usual length. */
const AUTHORIZATION_QUERY = new URLSearchParams({
  client_id: BENCH_CLIENT.client_id,
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: SCOPE,
  state: 's'.repeat(32),
  nonce: 'n'.repeat(32),
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}).toString();

/** What Chromium sends when a person follows a link of another site. */
const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.9',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'cross-site',
};

/** A visit of the page by somebody without a cookie. */
export const PAGE = { path: `/oauth/authorize?${AUTHORIZATION_QUERY}`, headers: NAVIGATION } as const satisfies Ask;

/** The client of a device, for which there is the page below. */
export const DEVICE_CLIENT = {
  name: 'device',
  public: true,
  grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
};

/** A visit of the page for devices by somebody who is not signed in. */
export const DEVICE_PAGE = { path: '/oauth/device?user_code=WDJB-*', headers: NAVIGATION } as const satisfies Ask;

/** The form of the page, without the cookie and the fields. */
export const PAGE_FORM: Ask = {
  method: 'POST',
  path: '/oauth/sign-in',
  headers: {
    ...NAVIGATION,
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    origin: 'null',
  },
};

/** The redemption of a code, without it. */
export const REDEMPTION: Ask = tokenAsk({
  grant_type: 'authorization_code',
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
});
