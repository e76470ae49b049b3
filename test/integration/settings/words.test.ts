import { describe, expect, test } from 'vitest';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { startDrivenReady } from '../service/driven.ts';
import { NODES, passwordOf, startCluster } from '../service/stand.ts';
import { claimsOf } from './odd-settings.ts';

async function start(config: NonNullable<GatehouseOptions['config']>) {
  const cluster = await startCluster();
  return { cluster, ...(await startDrivenReady(cluster, { config })) };
}

describe('configured words', () => {
  test('platform: names the realm, the group and the built-in client', async () => {
    const { service } = await start({ platform: 'oddhouse' });
    const path = NODES.replace('gatehouse', 'oddhouse');
    const { headers } = await service.call(path);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="oddhouse"');
    const client = { client_id: 'oddhouse', client_secret: 'oddhouse' };
    const form = { grant_type: 'password', ...client, username: 'ada', password: passwordOf('ada') };
    const { body } = await service.call('/oauth/token', { form });
    expect(claimsOf(body.access_token)['client_id']).toBe('oddhouse');
  });

  test('authentication.oauthOptions.issuer and accessTokenAudience: stand in metadata and tokens', async () => {
    const oauthOptions = { issuer: 'https://odd.example.com/oauth', accessTokenAudience: 'odd-audience' };
    const { service } = await start({ authentication: { oauthOptions } });
    const { access_token: token } = await service.signIn('ada');
    expect(claimsOf(token)).toMatchObject({ iss: oauthOptions.issuer, aud: ['odd-audience'] });
    expect((await service.list(token)).status).toBe(200);
    const { body } = await service.call('/.well-known/openid-configuration');
    expect(body).toMatchObject({ issuer: oauthOptions.issuer, token_endpoint: `${oauthOptions.issuer}/token` });
  });

  test('keys.secretName and users.firstAdministrator: name the Secrets and the user', async () => {
    const firstAdministrator = { name: 'odd-admin', groups: ['odd-group'], secretName: 'odd-administrator' };
    const { cluster, service } = await start({ keys: { secretName: 'odd-keys' }, users: { firstAdministrator } });
    expect(cluster.objects.get('secrets', 'default/odd-keys')).toBeDefined();
    const data = cluster.objects.get('secrets', 'default/odd-administrator')?.['data'] as Record<string, string>;
    const password = Buffer.from(data['password'] ?? '', 'base64').toString();
    const { body } = await service.signInAnswer('odd-admin', password);
    expect(claimsOf(body.access_token)).toMatchObject({ sub: 'odd-admin', groups: ['odd-group'] });
  });

  test('authentication.multipleLogin: false ends the sessions before', async () => {
    const { service } = await start({ authentication: { multipleLogin: false } });
    const { access_token: first } = await service.signIn('ada');
    const { access_token: second } = await service.signIn('ada');
    expect([(await service.list(first)).status, (await service.list(second)).status]).toEqual([401, 200]);
  });

  test('authentication.trustedProxies: counts failures by the address that a proxy of this range names', async () => {
    const proxies = (cidr: string) => ({
      authentication: { addressRateLimiterMaxTries: 1, trustedProxies: [{ cidr, header: 'X-Real-IP' }] },
    });
    for (const [cidr, expected] of [
      ['127.0.0.0/8', 400],
      ['192.0.2.0/24', 429],
    ] as const) {
      const { service } = await start(proxies(cidr));
      const fail = (address: string) =>
        service.call('/oauth/token', {
          headers: { 'x-real-ip': address },
          form: {
            grant_type: 'password',
            client_id: 'gatehouse',
            client_secret: 'gatehouse',
            username: address,
            password: 'x',
          },
        });
      await fail('198.51.100.1');
      expect((await fail('198.51.100.2')).status).toBe(expected);
    }
  });

  test('cors.origins and authorization.mode: let this origin read, and everybody in', async () => {
    const { service } = await start({
      cors: { origins: ['https://odd.example.com'] },
      authorization: { mode: 'AlwaysAllow' },
    });
    const { access_token: token } = await service.signIn('joe');
    const { status, headers } = await service.call(NODES, { token, headers: { origin: 'https://odd.example.com' } });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, 'https://odd.example.com']);
  });
});
