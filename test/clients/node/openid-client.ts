import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { takeSteps, told } from './steps.ts';

const { issuer, clientId, clientSecret, username, password } = told;

const config = await client.discovery(new URL(issuer), clientId, clientSecret);
const keys = createRemoteJWKSet(new URL(`${issuer}/keys`));

let tokens: (client.TokenEndpointResponse & client.TokenEndpointResponseHelpers) | undefined;

/** The library has checked the claims of the ID token; its signature is for `verify`. */
function expectIdToken(): void {
  if (tokens?.claims()?.sub !== username) throw new Error('the answer has no ID token of the user');
}

const get = (url: string): Promise<Response> =>
  client.fetchProtectedResource(config, tokens?.access_token ?? '', new URL(url), 'GET');

interface List {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

async function list() {
  const { items } = (await (await get(told.nodes)).json()) as List;
  return { nodes: items.map(({ metadata }) => metadata.name), token: tokens?.access_token };
}

await takeSteps({
  'sign-in': async () => {
    const grant = { username, password, scope: 'openid' };
    tokens = await client.genericGrantRequest(config, 'password', grant);
    expectIdToken();
    return { token: tokens.access_token };
  },
  verify: async ({ token = '' }) => {
    const checks = { issuer, audience: issuer, typ: 'at+jwt', algorithms: ['RS256'] };
    await jwtVerify(tokens?.id_token ?? '', keys, { ...checks, audience: clientId, typ: 'JWT' });
    const { payload } = await jwtVerify(token, keys, checks);
    return { subject: payload.sub };
  },
  list,
  // The library throws at 401, with what `WWW-Authenticate` says.
  refresh: async () => {
    await list().catch(async (error: unknown) => {
      if (!(error instanceof client.WWWAuthenticateChallengeError)) throw error;
      tokens = await client.refreshTokenGrant(config, tokens?.refresh_token ?? '');
      expectIdToken();
    });
    return list();
  },
});
