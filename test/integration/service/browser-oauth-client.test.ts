import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { FormBrowser } from '../../support/form-browser.ts';
import { passwordOf, type Service, startCluster, startService } from './stand.ts';

/** Plain http, which only loopback may use. Everything else is checked as with any server. */
const LOOPBACK = { [oauth.allowInsecureRequests]: true };

const CALLBACK = 'https://app.example.com/callback';
const SECRET = 'made-up-secret-of-web';
const CLIENTS = [
  { name: 'cli', public: true, redirectURIs: [CALLBACK] },
  { name: 'web', secret: SECRET, redirectURIs: [CALLBACK] },
];

const CLIENT_KINDS = [
  ['a public client', { client_id: 'cli' }, oauth.None()],
  ['a client with its secret in the header', { client_id: 'web' }, oauth.ClientSecretBasic(SECRET)],
  ['a client with its secret in the form', { client_id: 'web' }, oauth.ClientSecretPost(SECRET)],
] as const;

type Parameters = Readonly<Record<string, string>>;

/** What the client keeps from the request until its answer. */
interface Kept {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** An application with a sign-in by browser, as the examples of oauth4webapi write it. */
class Application {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly service: Service;
  readonly #method: oauth.ClientAuth;

  constructor(
    { server, service }: { readonly server: oauth.AuthorizationServer; readonly service: Service },
    client: oauth.Client,
    method: oauth.ClientAuth,
  ) {
    this.server = server;
    this.service = service;
    this.client = client;
    this.#method = method;
  }

  /** A request for a code, changed by `more`. */
  async request(more: Parameters = {}): Promise<{ readonly url: URL; readonly kept: Kept }> {
    const kept = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
    };
    const url = new URL(this.server.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      ...{ client_id: this.client.client_id, redirect_uri: CALLBACK, response_type: 'code' },
      ...{ scope: 'openid profile groups', state: kept.state, nonce: kept.nonce },
      code_challenge: await oauth.calculatePKCECodeChallenge(kept.verifier),
      code_challenge_method: 'S256',
      ...more,
    }).toString();
    return { url, kept };
  }

  /** Where the browser is sent after Ada has signed in. */
  async authorized(more: Parameters = {}): Promise<{ readonly url: URL; readonly kept: Kept }> {
    const { url, kept } = await this.request(more);
    const browser = new FormBrowser({ stopsAt: isCallback });
    const page = await browser.open(url);
    if (isCallback(page.url)) return { url: page.url, kept };
    return { url: (await browser.submit(page, { username: 'ada', password: passwordOf('ada') })).url, kept };
  }

  validate = (url: URL, { state }: Pick<Kept, 'state'>): URLSearchParams =>
    oauth.validateAuthResponse(this.server, this.client, url, state);

  async redeem(
    parameters: URLSearchParams,
    { verifier, nonce }: Pick<Kept, 'verifier' | 'nonce'>,
    more: { readonly maxAge?: number; readonly redirectUri?: string } = {},
  ): Promise<oauth.TokenEndpointResponse> {
    const { redirectUri = CALLBACK, maxAge } = more;
    const { server, client } = this;
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([server, client, this.#method, parameters, redirectUri, verifier, LOOPBACK] as const),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
      ...(maxAge === undefined ? {} : { maxAge }),
    });
    await oauth.validateApplicationLevelSignature(server, answer, LOOPBACK);
    return tokens;
  }

  /** Everything from the request to the tokens. */
  async signIn(more: Parameters = {}): Promise<oauth.TokenEndpointResponse> {
    const { url, kept } = await this.authorized(more);
    const maxAge = more['max_age'] === undefined ? {} : { maxAge: Number(more['max_age']) };
    return this.redeem(this.validate(url, kept), kept, maxAge);
  }

  async refresh(token = ''): Promise<oauth.TokenEndpointResponse> {
    const answer = await oauth.refreshTokenGrantRequest(this.server, this.client, this.#method, token, LOOPBACK);
    const tokens = await oauth.processRefreshTokenResponse(this.server, this.client, answer);
    await oauth.validateApplicationLevelSignature(this.server, answer, LOOPBACK);
    return tokens;
  }

  async userinfo(token: string, subject: string): Promise<oauth.UserInfoResponse> {
    const answer = await oauth.userInfoRequest(this.server, this.client, token, LOOPBACK);
    return oauth.processUserInfoResponse(this.server, this.client, subject, answer);
  }

  async revoke(token = ''): Promise<void> {
    const answer = await oauth.revocationRequest(this.server, this.client, this.#method, token, LOOPBACK);
    await oauth.processRevocationResponse(answer);
  }
}

const isCallback = ({ href }: URL): boolean => href.startsWith(CALLBACK);

/** Gatehouse as an application discovers it. */
async function discovered(): Promise<{ readonly server: oauth.AuthorizationServer; readonly service: Service }> {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients: CLIENTS } } };
  const service = await startService(await startCluster(), { config });
  const answer = await oauth.discoveryRequest(new URL(issuer), LOOPBACK);
  return { server: await oauth.processDiscoveryResponse(new URL(issuer), answer), service };
}

const claimsOf = (tokens: oauth.TokenEndpointResponse): oauth.IDToken =>
  oauth.getValidatedIdTokenClaims(tokens) ?? expect.fail('the answer has no ID token');

/** OpenID Connect Core 3.1.3.6. oauth4webapi checks it in the hybrid flow only. */
const halfDigest = (text: string): string =>
  createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

/** The status and the code of a refusal by the token endpoint. */
const refusal = (failure: unknown): unknown =>
  failure instanceof oauth.ResponseBodyError ? [failure.status, failure.error] : failure;

/** The code of a refusal that the browser brings back. */
const returned = (failure: unknown): unknown =>
  failure instanceof oauth.AuthorizationResponseError ? failure.error : failure;

const publicApp = async (): Promise<Application> => new Application(await discovered(), ...clientOf(0));
const clientOf = (kind: 0 | 1): [oauth.Client, oauth.ClientAuth] => [CLIENT_KINDS[kind][1], CLIENT_KINDS[kind][2]];

/** It throws at every answer that does not conform. */
describe('oauth4webapi', () => {
  test.each(CLIENT_KINDS)(
    'ID-01 ID-02 ID-07 as %s signs a person in, refreshes, asks who it is and revokes',
    async (_, client, method) => {
      const app = new Application(await discovered(), client, method);
      const first = await app.signIn({ max_age: '60' });
      expect(first).toMatchObject({ token_type: 'bearer', scope: 'openid profile groups' });
      const claims = claimsOf(first);
      expect(claims).toMatchObject({
        sub: 'ada',
        aud: client.client_id,
        preferred_username: 'ada',
        groups: ['admins'],
      });
      expect(claims['at_hash']).toBe(halfDigest(first.access_token));
      expect((await app.service.list(first.access_token)).status).toBe(200);
      const second = await app.refresh(first.refresh_token);
      const { sid, auth_time } = claims;
      expect(claimsOf(second)).toMatchObject({ sub: 'ada', sid, auth_time, at_hash: halfDigest(second.access_token) });
      expect(claimsOf(second)).not.toHaveProperty('nonce');
      expect(await app.userinfo(second.access_token, claims.sub)).toEqual({
        ...{ sub: 'ada', name: 'ada', preferred_username: 'ada', groups: ['admins'] },
      });
      await app.revoke(second.refresh_token);
      expect((await app.service.list(second.access_token)).status).toBe(401);
      expect(await app.refresh(second.refresh_token).catch(refusal)).toEqual([400, 'invalid_grant']);
      await app.revoke(second.refresh_token);
    },
  );

  test('B-15 finds the issuer in the answer, and refuses an answer without it or of another issuer', async () => {
    const app = await publicApp();
    const { url, kept } = await app.authorized();
    expect(url.searchParams.get('iss')).toBe(app.server.issuer);
    expect(app.validate(url, kept).get('code')).toBeTypeOf('string');
    const without = new URL(url);
    without.searchParams.delete('iss');
    expect(() => app.validate(without, kept)).toThrow(/parameter "iss" \(issuer\) missing/);
    url.searchParams.set('iss', 'https://evil.example');
    expect(() => app.validate(url, kept)).toThrow(/unexpected "iss"/);
  });

  test('ID-02 refuses an ID token with the nonce of another request', async () => {
    const app = await publicApp();
    const { url, kept } = await app.authorized();
    const other = { ...kept, nonce: oauth.generateRandomNonce() };
    const parameters = app.validate(url, kept);
    await expect(app.redeem(parameters, other)).rejects.toThrow(/unexpected ID Token "nonce" claim value/);
  });

  test.each([
    ['invalid_request', { response_mode: 'fragment' }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['login_required', { prompt: 'none' }],
    ['request_not_supported', { request: 'a.b.c' }],
  ])('B-15 is told %s with its state and the issuer for %j', async (code, more) => {
    const app = await publicApp();
    const { url, kept } = await app.authorized(more);
    const failure = await Promise.resolve(url)
      .then((back) => app.validate(back, kept))
      .catch(returned);
    expect(failure).toBe(code);
  });

  test('B-42 B-43 is refused a code with another verifier or address, and a used one, which ends the session', async () => {
    const app = await publicApp();
    const { url, kept } = await app.authorized();
    const parameters = app.validate(url, kept);
    const verifier = oauth.generateRandomCodeVerifier();
    const refused = [400, 'invalid_grant'];
    expect(await app.redeem(parameters, { ...kept, verifier }).catch(refusal)).toEqual(refused);
    const redirectUri = 'https://app.example.com/other';
    expect(await app.redeem(parameters, kept, { redirectUri }).catch(refusal)).toEqual(refused);
    const { access_token } = await app.redeem(parameters, kept);
    expect(await app.redeem(parameters, kept).catch(refusal)).toEqual(refused);
    expect((await app.service.list(access_token)).status).toBe(401);
  });

  test('B-41 B-42 can use a code after an attempt with a wrong secret', async () => {
    const server = await discovered();
    const app = new Application(server, ...clientOf(1));
    const stranger = new Application(server, app.client, oauth.ClientSecretBasic('wrong'));
    const { url, kept } = await app.authorized();
    const parameters = app.validate(url, kept);
    const failure = await stranger.redeem(parameters, kept).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
    expect(claimsOf(await app.redeem(parameters, kept)).sub).toBe('ada');
  });
});
