import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { Browser, FORM, NAVIGATION, OWN_FORM, send } from '../../support/browser.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { passwordOf, type Service, startCluster, startService } from './stand.ts';

const CALLBACK = 'http://127.0.0.1:9/callback';
const CLIENTS = [
  { name: 'web', secret: 'made-up-secret-of-web', redirectURIs: ['https://app.example.com/callback'] },
  { name: 'cli', public: true, redirectURIs: ['http://127.0.0.1/callback'] },
];

interface Stand {
  readonly issuer: string;
  readonly config: openid.Configuration;
  readonly service: Service;
}

/** Gatehouse at the address that it issues tokens for, as a public client discovers it. */
async function start(): Promise<Stand> {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients: CLIENTS } } };
  const service = await startService(await startCluster(), { config });
  const execute = [openid.allowInsecureRequests];
  return {
    issuer,
    service,
    config: await openid.discovery(new URL(issuer), 'cli', undefined, openid.None(), { execute }),
  };
}

const ADA = { username: 'ada', password: passwordOf('ada') };

/** A request of the client `cli`, and what it needs to take the answer. */
async function newRequest({ config }: Stand, more: Record<string, string> = {}) {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const code_challenge = await openid.calculatePKCECodeChallenge(verifier);
  const request = { redirect_uri: CALLBACK, scope: 'openid profile', state, nonce, code_challenge, ...more };
  const url = openid.buildAuthorizationUrl(config, { ...request, code_challenge_method: 'S256' });
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  return { url, checks };
}

describe('a person who signs in with a browser', () => {
  test('B-15 ID-02 gets back to the client, which gets tokens and an ID token, refreshes and reads userinfo', async () => {
    const stand = await start();
    const browser = new Browser();
    const { url, checks } = await newRequest(stand);
    const page = await browser.open(url);
    expect(page.status).toBe(200);
    const answer = await browser.submit(page, ADA);
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers['location'] ?? '');
    expect(location.href.startsWith(CALLBACK)).toBe(true);
    const tokens = await openid.authorizationCodeGrant(stand.config, location, checks);
    expect(tokens.claims()).toMatchObject({ sub: 'ada', aud: 'cli', preferred_username: 'ada' });
    expect((await stand.service.list(tokens.access_token)).status).toBe(200);
    expect(await openid.fetchUserInfo(stand.config, tokens.access_token, 'ada')).toMatchObject({ name: 'ada' });
    const next = await openid.refreshTokenGrant(stand.config, tokens.refresh_token ?? '');
    expect(next.claims()).toMatchObject({ sub: 'ada' });
    await expect(openid.authorizationCodeGrant(stand.config, location, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect((await stand.service.list(next.access_token)).status).toBe(401);
  });

  test('B-22 B-23 gets a page without script, which goes to our form and the client alone, in the preferred language', async () => {
    const stand = await start();
    const { url } = await newRequest(stand);
    const page = await new Browser().open(url, { ...NAVIGATION, 'Accept-Language': 'fr, zh-TW;q=0.8, en;q=0.5' });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'zh-CN',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'set-cookie': expect.stringMatching(/^gatehouse-browser=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/),
    });
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src data:; form-action 'self' http:\/\/127\.0\.0\.1:9; base-uri 'none'; frame-ancestors 'none'$/,
    );
    const { text: html } = page;
    expect(html).toContain('<html lang="zh-CN">');
    expect(html).not.toMatch(/<script|javascript:| on\w+=/);
  });

  test('B-22 never gets what was sent as markup', async () => {
    const stand = await start();
    const attack = `"><script>alert(1)</script>&'`;
    const { url } = await newRequest(stand, { login_hint: attack });
    const browser = new Browser();
    const page = await browser.open(url);
    expect(page.text).toContain('value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;&#38;&#39;"');
    const again = await browser.submit(page, { username: attack, password: 'x' });
    expect([again.status, again.text.includes('<script')]).toEqual([400, false]);
  });

  test('B-25 gets the page again after a wrong password, and is throttled as at the token endpoint', async () => {
    const stand = await start();
    const browser = new Browser();
    let page = await browser.open((await newRequest(stand)).url);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      page = await browser.submit(page, { ...ADA, password: 'wrong' });
      statuses.push(page.status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(0);
    expect(page.text).toContain('role="alert"');
  });

  test('B-24 is refused with a form of another site, without the cookie, and as no navigation', async () => {
    const stand = await start();
    const { url } = await newRequest(stand);
    const browser = new Browser();
    for (const headers of [
      { ...OWN_FORM, 'Sec-Fetch-Site': 'cross-site' },
      { ...OWN_FORM, 'Sec-Fetch-Mode': 'no-cors' },
      { ...OWN_FORM, Origin: 'https://evil.example' },
    ])
      expect((await browser.submit(await browser.open(url), ADA, headers)).status).toBe(403);
    const subresource = { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };
    expect((await browser.open(url, subresource)).status).toBe(403);
    const page = await browser.open(url);
    browser.forget();
    const lost = await browser.submit(page, ADA);
    const again = /<a href="([^"]*)">/.exec(lost.text)?.[1] ?? '';
    expect([lost.status, again]).toEqual([400, expect.stringMatching(/^\/oauth\/authorize\?/)]);
    const anew = await browser.open(new URL(again.replaceAll('&#38;', '&'), url));
    expect((await browser.submit(anew, ADA)).status).toBe(303);
  });

  test('B-24 has two tabs, which both work', async () => {
    const stand = await start();
    const browser = new Browser();
    const [first, second] = [await newRequest(stand), await newRequest(stand)];
    const pages = [await browser.open(first.url), await browser.open(second.url)];
    for (const page of pages) expect((await browser.submit(page, ADA)).status).toBe(303);
  });

  test('B-16 may be sent by a form of the client', async () => {
    const stand = await start();
    const { url } = await newRequest(stand);
    const body = url.searchParams.toString();
    const answer = await send(new URL(url.pathname, url), {
      ...{ method: 'POST', body, headers: { ...FORM, ...NAVIGATION } },
    });
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers['location'] ?? '', url);
    expect(location.pathname).toBe('/oauth/authorize');
    expect((await new Browser().open(location)).status).toBe(200);
  });

  test('B-05 may go back by a form', async () => {
    const stand = await start();
    const browser = new Browser();
    const { url } = await newRequest(stand, { response_mode: 'form_post' });
    const page = await browser.submit(await browser.open(url), ADA);
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<form method="post" action="http:\/\/127\.0\.0\.1:9\/callback">/);
  });

  test('B-02 B-03 gets a page, and is sent nowhere, when client or address are unknown', async () => {
    const stand = await start();
    const { url } = await newRequest(stand);
    for (const [name, value] of [
      ['client_id', 'nobody'],
      ['redirect_uri', 'https://evil.example/'],
    ] as const) {
      const bad = new URL(url);
      bad.searchParams.set(name, value);
      const answer = await new Browser().open(bad);
      expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
      expect(answer.text).not.toContain('evil.example');
    }
  });
});

test('ID-08 the metadata name the authorization endpoint only where a client has a sign-in by browser', async () => {
  const { config } = await start();
  expect(config.serverMetadata()).toMatchObject({
    authorization_endpoint: expect.stringMatching(/\/oauth\/authorize$/),
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    grant_types_supported: ['authorization_code', 'password', 'refresh_token'],
  });
  const { gatehouse } = await startService(await startCluster(), { config: { platform: 'kubesphere' } });
  const metadata = await (await fetch(`${gatehouse.origin}/.well-known/openid-configuration`)).json();
  expect(metadata).not.toHaveProperty('authorization_endpoint');
  // The pages are there for the page for people, and no client has one to go back to.
  expect((await fetch(`${gatehouse.origin}/oauth/authorize?client_id=kubesphere`)).status).toBe(400);
  const off = await startService(await startCluster(), {
    config: { platform: 'kubesphere', page: { enabled: false } },
  });
  expect((await fetch(`${off.gatehouse.origin}/oauth/authorize?client_id=kubesphere`)).status).toBe(404);
});
