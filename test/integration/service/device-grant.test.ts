import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { Browser, FORM, NAVIGATION, OWN_FORM, type Page, send } from '../../support/browser.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { eventually, passwordOf, type Service, startCluster, startService } from './stand.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLIENTS = [
  { name: 'tv', public: true, grantTypes: [GRANT, 'refresh_token'] },
  { name: 'console', secret: 'made-up-secret-of-console' },
];
const ADA = { username: 'ada', password: passwordOf('ada') };

/** Replicas that share an issuer; the first one is at its address. */
async function start(count = 1, sessions: 'kubernetes' | 'memory' = 'kubernetes') {
  const cluster = await startCluster();
  const ports = await freePorts(count);
  const issuer = `http://127.0.0.1:${ports[0]}/oauth`;
  const oauthOptions = { issuer, clients: CLIENTS };
  const trustedProxies = [{ cidr: '127.0.0.1/32' }];
  const replicas = await Promise.all(
    ports.map((port) =>
      startService(cluster, {
        config: { server: { port }, sessions: { store: sessions }, authentication: { oauthOptions, trustedProxies } },
      }),
    ),
  );
  return { cluster, issuer, replicas: replicas as [Service, ...Service[]] };
}

const ask = async (service: Service, headers: Record<string, string> = {}) =>
  (await service.call('/oauth/device_authorization', { headers, form: { client_id: 'tv', scope: 'openid groups' } }))
    .body;

const poll = (service: Service, device_code: string) =>
  service.call('/oauth/token', { form: { grant_type: GRANT, client_id: 'tv', device_code } });

const at = (service: Service, path: string): URL => new URL(path, service.gatehouse.origin);

/** The page after the sign-in that it asks for. */
async function signedIn(browser: Browser, url: URL): Promise<Page> {
  const answer = await browser.submit(await browser.open(url), ADA);
  return browser.open(new URL(answer.headers['location'] ?? '', url));
}

const recordsOf = (cluster: SimulatedCluster) =>
  cluster.objects.list('secrets').filter(({ metadata }) => metadata.name.includes('-device-codes-'));

describe('a device without a browser', () => {
  test('D-03 D-04 signs in while its person types the code, on two replicas, and leaves no record', async () => {
    const { cluster, replicas } = await start(2);
    const [first, second] = replicas as [Service, Service];
    const device = await ask(first, { 'X-Forwarded-For': '198.51.100.7' });
    const browser = new Browser();
    const page = await signedIn(browser, at(second, '/oauth/device'));
    expect(page.text).toMatch(/<label for="user_code">Code<\/label>/);
    const typed = browser.submit(page, { user_code: device.user_code.toLowerCase().replace('-', ' ') });
    const polls = await eventually(
      async () => [(await poll(first, device.device_code)).body.error, recordsOf(cluster).length],
      ([, records]) => records === 1,
    );
    expect(polls[0]).toMatch(/authorization_pending|slow_down/);
    await poll(first, device.device_code);
    const asked = await typed;
    expect(asked.status).toBe(200);
    expect(asked.text).toMatch(new RegExp(`<div class="code">${device.user_code}</div>`));
    expect(asked.text).toMatch(/<strong>tv<\/strong>.*<li>who you are<\/li>\s*<li>the groups that you are in<\/li>/s);
    expect(asked.text).toMatch(
      /<strong>198\.51\.100\.7<\/strong>, less than a minute ago\..*Only go on if you started/s,
    );
    expect(asked.text).toMatch(/<strong>ada<\/strong>.*Use another account/s);
    const done = await browser.submit(asked, { decision: 'allow' });
    expect([done.status, done.text.includes('The device may sign in')]).toEqual([200, true]);
    const redeemed = await eventually(
      () => poll(first, device.device_code),
      ({ status }) => status === 200,
    );
    expect((await second.list(redeemed.body.access_token)).status).toBe(200);
    expect(redeemed.body.id_token).toBeDefined();
    expect(recordsOf(cluster)).toEqual([]);
    await eventually(
      async () => (await poll(second, device.device_code)).body.error,
      (error) => error === 'invalid_grant',
    );
  });

  test('D-03 D-04 is decided once and signed in once, whatever two replicas are asked at the same time', async () => {
    const { cluster, replicas } = await start(2);
    const [first, second] = replicas as [Service, Service];
    const browser = new Browser();
    await signedIn(browser, at(first, '/oauth/device'));
    for (let round = 0; round < 5; round++) {
      const device = await ask(first);
      const path = device.verification_uri_complete.replace(/^https?:\/\/[^/]+/, '');
      const pages = await Promise.all(replicas.map((replica) => browser.open(at(replica, path))));
      const answers = await Promise.all(pages.map((page) => browser.submit(page, { decision: 'allow' })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const polls = await eventually(
        () => Promise.all([first, second, first, second].map((replica) => poll(replica, device.device_code))),
        (all) => all.some(({ status }) => status === 200),
      );
      expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
      await eventually(
        () => recordsOf(cluster),
        ({ length }) => length === 0,
      );
    }
  });

  test('D-01 D-03 is allowed by its whole address, as openid-client polls, with sessions in memory', async () => {
    const { issuer, replicas } = await start(1, 'memory');
    const execute = [openid.allowInsecureRequests];
    const config = await openid.discovery(new URL(issuer), 'tv', undefined, openid.None(), { execute });
    const device = await openid.initiateDeviceAuthorization(config, { scope: 'openid profile' });
    expect(device).toMatchObject({ verification_uri: `${issuer}/device`, expires_in: 600, interval: 5 });
    const browser = new Browser();
    const page = await signedIn(browser, new URL(device.verification_uri_complete ?? ''));
    expect(page.headers['content-security-policy']).toMatch(/form-action 'self';/);
    await browser.submit(page, { decision: 'allow' });
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.01 });
    expect(tokens.claims()).toMatchObject({ sub: 'ada', aud: 'tv', preferred_username: 'ada' });
    expect((await replicas[0].list(tokens.access_token)).status).toBe(200);
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect((await replicas[0].list(next.access_token)).status).toBe(200);
  });

  test('D-01 D-05 writes nothing for anonymous requests, and answers 429 to an address after twenty', async () => {
    const { cluster, replicas } = await start();
    const before = cluster.objects.list('secrets').length;
    const asked = Array.from({ length: 100 }, (_, one) =>
      replicas[0].call('/oauth/device_authorization', {
        headers: { 'X-Forwarded-For': `198.51.100.${one % 10}` },
        form: { client_id: 'tv' },
      }),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
    expect(cluster.objects.list('secrets').length).toBe(before);
    const more = Array.from({ length: 21 }, () => ask(replicas[0], { 'X-Forwarded-For': '203.0.113.1' }));
    const errors = (await Promise.all(more)).map(({ error }) => error).filter(Boolean);
    expect(errors).toEqual(['temporarily_unavailable']);
  });

  test('D-06 is for clients that are configured for it', async () => {
    const { issuer, replicas } = await start();
    const form = { client_id: 'console', client_secret: 'made-up-secret-of-console' };
    const refused = await replicas[0].call('/oauth/device_authorization', { form });
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
    const metadata = (await replicas[0].call('/oauth/.well-known/openid-configuration')).body;
    expect(metadata.device_authorization_endpoint).toBe(`${issuer}/device_authorization`);
    expect(metadata).not.toHaveProperty('authorization_endpoint');
    const config = { authentication: { oauthOptions: { clients: CLIENTS.slice(1) } } };
    const without = await startService(await startCluster(), { config });
    for (const path of ['/oauth/device_authorization', '/oauth/device', '/oauth/device-decision'])
      expect((await without.call(path, { form })).status).toBe(404);
  });

  test('D-03 takes no page and no form from another site', async () => {
    const { replicas } = await start();
    const device = await ask(replicas[0]);
    const browser = new Browser();
    const page = await signedIn(browser, new URL(device.verification_uri_complete));
    const foreign = { ...OWN_FORM, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
    expect((await browser.submit(page, { decision: 'allow' }, foreign)).status).toBe(403);
    const framed = { ...NAVIGATION, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };
    expect((await browser.open(at(replicas[0], '/oauth/device'), framed)).status).toBe(403);
    const bare = await send(at(replicas[0], '/oauth/device-decision'), {
      method: 'POST',
      body: 'decision=allow',
      headers: { ...FORM, ...OWN_FORM },
    });
    expect([bare.status, bare.text.includes('This request has ended')]).toEqual([400, true]);
    expect((await poll(replicas[0], device.device_code)).body.error).toBe('authorization_pending');
  });

  test('D-02 D-03 shows its pages in Chinese, and nothing that was sent as markup', async () => {
    const { replicas } = await start();
    const browser = new Browser();
    await signedIn(browser, at(replicas[0], '/oauth/device'));
    const page = await browser.open(at(replicas[0], '/oauth/device?ui_locales=zh&user_code=wdjbmjht'));
    expect(page.text).toMatch(/在设备上登录.*value="WDJBMJHT"/s);
    const again = await browser.submit(page, { user_code: '"><script>alert(1)</script>' });
    expect([again.status, again.text.includes('<script')]).toEqual([400, false]);
    expect(again.text).toMatch(/role="alert">代码由八个字母组成/);
  });
});
