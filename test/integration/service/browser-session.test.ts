import { describe, expect, test } from 'vitest';
import { Browser, FORM, NAVIGATION, type Page, send } from '../../support/browser.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { passwordOf, type Service, startCluster, startService } from './stand.ts';

const APP = 'https://app.example.com/callback';
const BYE = 'https://app.example.com/bye';
const CLIENTS = [
  { name: 'web', secret: 'made-up-web', redirectURIs: [APP], postLogoutRedirectURIs: [BYE] },
  { name: 'asking', secret: 'made-up-asking', redirectURIs: [APP], grantMethod: 'prompt' },
];

const ADA = { username: 'ada', password: passwordOf('ada') };

class Stand {
  readonly service: Service;
  readonly #issuer: string;

  constructor(service: Service, issuer: string) {
    this.service = service;
    this.#issuer = issuer;
  }

  /** The address at which a client sends the browser here. */
  authorize(client: string, more: Record<string, string> = {}): URL {
    const request = { client_id: client, redirect_uri: APP, response_type: 'code', scope: 'openid email', ...more };
    return new URL(`${this.#issuer}/authorize?${new URLSearchParams(request)}`);
  }

  logout(parameters: Record<string, string> = {}): URL {
    return new URL(`${this.#issuer}/logout?${new URLSearchParams(parameters)}`);
  }

  /** The tokens for the code with which the browser goes back. */
  async redeem(client: string, answer: Page): Promise<{ readonly access_token: string; readonly id_token: string }> {
    const secret = CLIENTS.find(({ name }) => name === client)?.secret ?? '';
    const code = new URL(answer.headers['location'] ?? '').searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      client_id: client,
      client_secret: secret,
      code,
      redirect_uri: APP,
    };
    return (await fetch(`${this.#issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })).json() as never;
  }
}

async function start(): Promise<Stand> {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients: CLIENTS } } };
  return new Stand(await startService(await startCluster(), { config }), issuer);
}

/** Ada, who has signed in for `web`. */
async function signedIn() {
  const stand = await start();
  const browser = new Browser();
  const answer = await browser.submit(await browser.open(stand.authorize('web')), ADA);
  return { stand, browser, tokens: await stand.redeem('web', answer) };
}

describe('a person whose browser is signed in', () => {
  test('B-27 gets to another client without a password, by a cookie that no script can read', async () => {
    const stand = await start();
    const browser = new Browser();
    const answer = await browser.submit(await browser.open(stand.authorize('web')), ADA);
    expect([answer.headers['set-cookie']].flat()).toEqual([
      expect.stringMatching(/^gatehouse-session=[\w.-]{200,2000}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const again = await browser.open(stand.authorize('web', { prompt: 'none', state: 's' }));
    expect(again.status).toBe(303);
    expect(again.headers['location']).toMatch(/^https:\/\/app\.example\.com\/callback\?code=[^&]+&state=s&iss=/);
    const { access_token: token } = await stand.redeem('web', again);
    expect((await stand.service.list(token)).status).toBe(200);
  });

  test('B-17 is asked by a client that wants to know, in words and with a way to another account', async () => {
    const { stand, browser } = await signedIn();
    const page = await browser.open(stand.authorize('asking'));
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<strong>asking<\/strong>.*<li>who you are<\/li>\s*<li>your e-mail address<\/li>/s);
    expect(page.text).toMatch(/<strong>app\.example\.com<\/strong>.*<strong>ada<\/strong>.*Use another account/s);
    const refused = await browser.submit(page, { decision: 'deny' });
    expect(refused.headers['location']).toMatch(/\?error=access_denied&/);
    const allowed = await browser.submit(page, { decision: 'allow' });
    expect(allowed.headers['location']).toMatch(/\?code=/);
    expect((await browser.open(stand.authorize('asking'))).headers['location']).toMatch(/\?code=/);
  });

  test('B-50 signs out by the client, which shows the ID token, and every token of the browser ends', async () => {
    const { stand, browser, tokens } = await signedIn();
    const asked = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE, state: 's' };
    const answer = await browser.open(stand.logout(asked));
    expect([answer.status, answer.headers['location']]).toEqual([303, `${BYE}?state=s`]);
    expect(answer.headers['set-cookie']).toMatch(/^gatehouse-session=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
    expect((await stand.service.list(tokens.access_token)).status).toBe(401);
    expect((await browser.open(stand.authorize('web'))).status).toBe(200);
  });

  test('B-51 is asked before a sign-out that any site can have sent the browser to', async () => {
    const { stand, browser, tokens } = await signedIn();
    const page = await browser.open(stand.logout());
    expect([page.status, page.text.includes('Do you want to sign out?')]).toEqual([200, true]);
    expect((await stand.service.list(tokens.access_token)).status).toBe(200);
    const left = await browser.submit(page, { all: 'true' });
    expect([left.status, left.text.includes('You are signed out')]).toEqual([200, true]);
    expect(browser.cookie('gatehouse-session')).toBeUndefined();
    expect((await stand.service.list(tokens.access_token)).status).toBe(401);
  });

  test('B-51 is asked by a form of the client as well, which brings no cookie and so comes again', async () => {
    const { stand, browser } = await signedIn();
    const body = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: BYE }).toString();
    const moved = await send(stand.logout(), { method: 'POST', body, headers: { ...FORM, ...NAVIGATION } });
    const location = moved.headers['location'] ?? '';
    expect([moved.status, location]).toEqual([303, expect.stringMatching(/^\/oauth\/logout\?client_id=web&/)]);
    const page = await browser.open(new URL(location, stand.logout()));
    expect(page.text).toContain('Do you want to sign out?');
  });

  test('T-31 does not meet a program, which gets JSON as before', async () => {
    const { stand, tokens } = await signedIn();
    const anonymous = await fetch(stand.logout());
    expect([anonymous.status, await anonymous.json()]).toEqual([200, { message: 'success' }]);
    const headers = { Authorization: `Bearer ${tokens.access_token}`, Accept: 'text/html' };
    expect(await send(stand.logout(), { headers })).toMatchObject({ status: 200, text: '{"message":"success"}' });
    expect((await stand.service.list(tokens.access_token)).status).toBe(401);
  });
});
