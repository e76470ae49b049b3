import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { CLIENT, CONFIDENTIAL, type Person, passwordOf, startCluster, startService } from './stand.ts';

/** Plain http, which only loopback may use. Nothing else is asked of the library but what every server gets. */
const LOOPBACK = { [oauth.allowInsecureRequests]: true };

const client: oauth.Client = { client_id: CLIENT.client_id };

const METHODS = [
  ['client_secret_basic', oauth.ClientSecretBasic(CLIENT.client_secret)],
  ['client_secret_post', oauth.ClientSecretPost(CLIENT.client_secret)],
] as const;

/** An OAuth client as an application has it, after discovery by the issuer alone. */
class Application {
  readonly server: oauth.AuthorizationServer;
  readonly #method: oauth.ClientAuth;

  constructor(server: oauth.AuthorizationServer, method: oauth.ClientAuth) {
    this.server = server;
    this.#method = method;
  }

  async signIn(person: Person, more: Readonly<Record<string, string>> = {}): Promise<oauth.TokenEndpointResponse> {
    const form = { username: person, password: passwordOf(person), ...more };
    const { server } = this;
    const answer = await oauth.genericTokenEndpointRequest(server, client, this.#method, 'password', form, LOOPBACK);
    return oauth.processGenericTokenEndpointResponse(server, client, answer);
  }

  async refresh(token = ''): Promise<oauth.TokenEndpointResponse> {
    const answer = await oauth.refreshTokenGrantRequest(this.server, client, this.#method, token, LOOPBACK);
    return oauth.processRefreshTokenResponse(this.server, client, answer);
  }

  async introspect(token = ''): Promise<oauth.IntrospectionResponse> {
    const answer = await oauth.introspectionRequest(this.server, client, this.#method, token, LOOPBACK);
    return oauth.processIntrospectionResponse(this.server, client, answer);
  }

  async revoke(token = ''): Promise<void> {
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(this.server, client, this.#method, token, LOOPBACK),
    );
  }

  async userinfo(token: string, subject: string): Promise<oauth.UserInfoResponse> {
    const answer = await oauth.userInfoRequest(this.server, client, token, LOOPBACK);
    return oauth.processUserInfoResponse(this.server, client, subject, answer);
  }

  /** As a service that takes our tokens has it: by the published keys alone (RFC 9068 4). */
  judge(token: string): Promise<oauth.JWTAccessTokenClaims> {
    const call = new Request('http://127.0.0.1/', { headers: { Authorization: `Bearer ${token}` } });
    return oauth.validateJwtAccessToken(this.server, call, this.server.issuer, LOOPBACK);
  }
}

async function discover(issuer: string, algorithm: 'oidc' | 'oauth2' = 'oidc'): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm, ...LOOPBACK }));
}

/** A running Gatehouse that knows the address at which it is reached. */
async function start(path = '/oauth', clients = {}): Promise<string> {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}${path}`;
  const config = { server: { port }, authentication: { oauthOptions: { ...clients, issuer } } };
  await startService(await startCluster(), { config });
  return issuer;
}

const codeOf = (failure: unknown): unknown =>
  failure instanceof oauth.ResponseBodyError ? [failure.status, failure.error] : failure;

/** oauth4webapi is strict where standards are: it throws at every answer that is not conformant. */
describe('an independent OAuth client', () => {
  test.each(['/oauth', ''])('discovers the server by an issuer with the path "%s" in both ways', async (path) => {
    const issuer = await start(path);
    const metadata = await discover(issuer);
    expect(metadata.issuer).toBe(issuer);
    expect(await discover(issuer, 'oauth2')).toEqual(metadata);
    const { access_token } = await new Application(metadata, METHODS[0][1]).signIn('ada');
    expect(access_token).toBeTypeOf('string');
  });

  test.each([...METHODS, ['none', oauth.None()] as const])('A-52 signs in and refreshes with %s', async (_, method) => {
    const app = new Application(await discover(await start()), method);
    const first = await app.signIn('ada', { scope: 'openid profile' });
    expect(first).toMatchObject({ token_type: 'bearer', expires_in: 7200, scope: 'openid profile' });
    const second = await app.refresh(first.refresh_token);
    expect(second).toMatchObject({ token_type: 'bearer', expires_in: 7200, scope: 'openid profile' });
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await app.refresh(second.refresh_token)).refresh_token).not.toBe(second.refresh_token);
    const reuse = await app.refresh(first.refresh_token).catch(codeOf);
    expect(reuse).toEqual([400, 'invalid_grant']);
  });

  test.each(METHODS)('introspects and revokes with %s', async (_, method) => {
    const app = new Application(await discover(await start('/oauth', CONFIDENTIAL.oauthOptions)), method);
    const { access_token, refresh_token } = await app.signIn('ada');
    const shared = { active: true, client_id: 'gatehouse', username: 'ada', sub: 'ada', iss: app.server.issuer };
    expect(await app.introspect(access_token)).toMatchObject({ ...shared, token_type: 'Bearer' });
    expect(await app.introspect(refresh_token)).toMatchObject(shared);
    await app.revoke(refresh_token);
    expect(await app.introspect(access_token)).toEqual({ active: false });
    expect(await app.introspect(refresh_token)).toEqual({ active: false });
    await app.revoke(refresh_token);
    expect(await app.refresh(refresh_token).catch(codeOf)).toEqual([400, 'invalid_grant']);
  });

  test('A-52 is told that nobody needs a secret, and may not introspect without one of its own', async () => {
    const server = await discover(await start());
    expect(server.token_endpoint_auth_methods_supported).toContain('none');
    expect(server.introspection_endpoint_auth_methods_supported).not.toContain('none');
    const app = new Application(server, METHODS[1][1]);
    const { access_token } = await app.signIn('ada');
    expect(await app.introspect(access_token).catch(codeOf)).toEqual([400, 'unauthorized_client']);
  });

  test('asks who signed in', async () => {
    const app = new Application(await discover(await start()), METHODS[0][1]);
    const { access_token } = await app.signIn('ada', { scope: 'openid profile' });
    expect(await app.userinfo(access_token, 'ada')).toEqual({ sub: 'ada', name: 'ada', preferred_username: 'ada' });
  });

  test('reads the challenge of a refused access token', async () => {
    const app = new Application(await discover(await start()), METHODS[0][1]);
    const { access_token } = await app.signIn('ada');
    await app.revoke(access_token);
    const failure = await app.userinfo(access_token, 'ada').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
    const { cause } = failure as oauth.WWWAuthenticateChallengeError;
    expect(cause).toEqual([{ scheme: 'bearer', parameters: { realm: 'gatehouse', error: 'invalid_token' } }]);
  });

  test('reads why it could not sign in', async () => {
    const server = await discover(await start());
    const app = new Application(server, METHODS[1][1]);
    expect(await app.signIn('ada', { password: 'wrong' }).catch(codeOf)).toEqual([400, 'invalid_grant']);
    const stranger = new Application(server, oauth.ClientSecretPost('wrong'));
    const failure = await stranger.signIn('ada').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
  });

  test('verifies an access token by the published keys', async () => {
    const app = new Application(await discover(await start()), METHODS[0][1]);
    const { access_token } = await app.signIn('ada');
    expect(await app.judge(access_token)).toMatchObject({ sub: 'ada', client_id: 'gatehouse' });
  });
});
