import { describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { appParts } from '../http/app-under-test.ts';
import { type Answer, CLIENT, passwordOf, type Service, startCluster, startService } from './stand.ts';

type Metadata = Readonly<Record<string, string | readonly string[] | undefined>>;

const SECRET = 'made-up-secret-of-console';
const CLIENTS = [
  { name: 'gatehouse', secret: 'gatehouse' },
  { name: 'gateway', secret: SECRET, grantTypes: ['refresh_token'], introspectAll: true },
  { name: 'app', public: true, grantTypes: ['refresh_token'] },
];

async function start(
  clients: readonly object[] = CLIENTS,
): Promise<{ readonly service: Service; readonly metadata: Metadata }> {
  const config = { authentication: { oauthOptions: { clients } } };
  const service = await startService(await startCluster(), { config });
  const { body } = await service.call('/.well-known/oauth-authorization-server');
  return { service, metadata: body as Metadata };
}

/** The path of everything that the metadata give an address of. */
const advertised = (metadata: Metadata): Map<string, string> =>
  new Map(
    Object.entries(metadata)
      .filter(([name]) => name.endsWith('_endpoint') || name === 'jwks_uri')
      .map(([name, url]) => [name, new URL(String(url)).pathname]),
  );

/** What the metadata have no member for: themselves, the webhook of an API server, and the forms of our own pages. */
const NOT_FOR_CLIENTS = [
  '/oauth/.well-known/openid-configuration',
  '/oauth/authenticate',
  '/oauth/sign-in',
  '/oauth/new-password',
  '/oauth/consent',
  '/oauth/sign-out',
  '/oauth/device',
  '/oauth/device-decision',
];

const basic = ({ client_id, client_secret }: typeof CLIENT): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
});

describe('the metadata of a running service', () => {
  test('N-44 are the same bytes at each path, under the issuer that tokens name', async () => {
    const { service } = await start();
    const paths = createRoutes(appParts()).map(({ template }) => template);
    const answers = await Promise.all(
      paths.filter((path) => path.includes('/.well-known/')).map((p) => service.call(p)),
    );
    expect(answers).toHaveLength(4);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { access_token } = await service.signIn('ada');
    const claims = JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString());
    expect(answers[0]?.body.issuer).toBe(claims.iss);
  });

  test('N-44 give the address of every route under /oauth, and of nothing else', async () => {
    const { metadata } = await start([
      ...CLIENTS,
      { name: 'web', public: true, redirectURIs: ['https://app.example.com/'] },
      { name: 'tv', public: true, grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'] },
    ]);
    const offered = createRoutes(appParts())
      .map(({ template }) => template)
      .filter((path) => path.startsWith('/oauth/') && !NOT_FOR_CLIENTS.includes(path));
    expect([...advertised(metadata).values()].sort()).toEqual(offered.sort());
  });

  test('N-44 each address works as its member says', async () => {
    const { service, metadata } = await start();
    const at = advertised(metadata);
    const form = (member: string, more: Record<string, string>): Promise<Answer> =>
      service.call(at.get(member) ?? '', { form: { ...CLIENT, ...more } });
    const userinfo = (token: string): Promise<Answer> => service.call(at.get('userinfo_endpoint') ?? '', { token });
    const signedIn = await form('token_endpoint', {
      ...{ grant_type: 'password', username: 'ada', password: passwordOf('ada') },
    });
    const { access_token, refresh_token } = signedIn.body;
    expect((await userinfo(access_token)).body).toEqual({ sub: 'ada', name: 'ada', preferred_username: 'ada' });
    const kids = (await service.call(at.get('jwks_uri') ?? '')).body.keys.map(({ kid }: { kid: string }) => kid);
    expect(kids).toContain(JSON.parse(Buffer.from(access_token.split('.')[0], 'base64url').toString()).kid);
    const introspected = await form('introspection_endpoint', { token: refresh_token });
    expect(introspected.body).toMatchObject({ active: true, username: 'ada' });
    const refreshed = await form('token_endpoint', { grant_type: 'refresh_token', refresh_token });
    expect((await form('introspection_endpoint', { token: refresh_token })).text).toBe('{"active":false}');
    expect((await form('revocation_endpoint', { token: refreshed.body.refresh_token })).status).toBe(200);
    expect((await userinfo(access_token)).status).toBe(401);
    expect((await userinfo(refreshed.body.access_token)).status).toBe(401);
    expect((await service.call(at.get('end_session_endpoint') ?? '')).status).toBe(200);
    expect(await service.metric('gatehouse_revocation_requests_total{result="ended"}')).toBe(1);
    expect(await service.metric('gatehouse_introspection_requests_total{result="inactive"}')).toBe(1);
  });

  test('N-44 name the grants that are taken; others are refused', async () => {
    const { service, metadata } = await start();
    expect(metadata['grant_types_supported']).toEqual(['password', 'refresh_token']);
    for (const grant_type of ['password', 'refresh_token']) {
      const answer = await service.call('/oauth/token', { form: { ...CLIENT, grant_type } });
      expect(answer.body.error).toBe('invalid_request'); // taken: what is missing are its parameters
    }
    for (const grant_type of ['authorization_code', 'client_credentials', 'code']) {
      const answer = await service.call('/oauth/token', { form: { ...CLIENT, grant_type } });
      expect(answer.body.error).toBe('unsupported_grant_type');
    }
    expect(Object.values(metadata).filter((value) => Array.isArray(value) && value.length === 0)).toEqual([]);
    expect((await service.call('/oauth/authorize')).status).toBe(400);
  });

  test.each(['token', 'revocation', 'introspection'])(
    'N-44 name the ways in which clients may authenticate at the %s endpoint',
    async (name) => {
      const { service, metadata } = await start();
      const path = advertised(metadata).get(`${name}_endpoint`) ?? '';
      const { refresh_token } = await service.signIn('ada');
      const asked = { grant_type: 'refresh_token', refresh_token, token: 'x' };
      const attempts: Record<string, Promise<Answer>> = {
        client_secret_basic: service.call(path, { form: { ...asked }, headers: basic(CLIENT) }),
        client_secret_post: service.call(path, { form: { ...asked, ...CLIENT } }),
        none: service.call(path, { form: { ...asked, client_id: 'app' } }),
      };
      const refusals = ['invalid_client', 'unauthorized_client'];
      const taken: string[] = [];
      for (const [method, attempt] of Object.entries(attempts)) {
        if (!refusals.includes((await attempt).body?.error)) taken.push(method);
      }
      expect(metadata[`${name}_endpoint_auth_methods_supported`]).toEqual(taken);
    },
  );
});

describe('a client with introspectAll', () => {
  test('T-26 learns of tokens of other clients', async () => {
    const { service } = await start();
    const { access_token: token } = await service.signIn('ada');
    const form = { token, client_id: 'gateway', client_secret: SECRET };
    expect((await service.call('/oauth/introspect', { form })).body).toMatchObject({
      active: true,
      client_id: 'gatehouse',
      username: 'ada',
      token_type: 'Bearer',
    });
  });
});
