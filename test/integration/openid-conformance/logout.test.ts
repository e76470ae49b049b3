import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from '../../support/browser.ts';
import { BYE, type RelyingParty, startRelyingParty } from './relying-party.ts';

let party: RelyingParty;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ party, stop } = await startRelyingParty());
});
afterAll(() => stop());

/** Whether the browser is signed in: what a request without a page comes to. */
async function isSignedIn(browser: Browser): Promise<boolean> {
  const url = party.request({ prompt: 'none' });
  const returned = party.returned(url, await browser.open(url));
  if (!returned.has('code')) expect(returned.get('error')).toBe('login_required');
  return returned.has('code');
}

/** Expects a page that asks whether to sign out, and nothing that has ended. */
async function expectQuestion(page: Page, browser: Browser): Promise<void> {
  expect([page.status, page.headers['location']]).toEqual([200, undefined]);
  expect(page.text).toContain('Do you want to sign out?');
  expect(await isSignedIn(browser)).toBe(true);
}

async function expectSignedOut(page: Page, browser: Browser): Promise<void> {
  expect([page.status, page.headers['location']]).toEqual([200, undefined]);
  expect(page.text).toContain('You are signed out');
  expect(await isSignedIn(browser)).toBe(false);
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const partsOf = (token: string): object[] =>
  token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));

/** The same ID token, but signed by a key of the relying party. */
function resigned(idToken: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signed = idToken.slice(0, idToken.lastIndexOf('.'));
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

/** The same ID token, but without a signature, and with a header that says so. */
function unsigned(idToken: string): string {
  const [header = {}, claims = {}] = partsOf(idToken);
  return `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`;
}

describe('RP-initiated logout', () => {
  test('oidcc-rp-initiated-logout: back to the client with the state, and nobody is signed in', async () => {
    const { browser, id_token: id_token_hint, access_token } = await party.signedIn();
    const asked = { id_token_hint, post_logout_redirect_uri: BYE, state: 's-1' };
    const { status, headers } = await browser.open(party.logout(asked));
    expect([status, headers['location']]).toEqual([303, `${BYE}?state=s-1`]);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await party.userinfo(access_token)).status).toBe(401);
  });

  test('oidcc-rp-initiated-logout-no-state: back to the client without one', async () => {
    const { browser, id_token: id_token_hint } = await party.signedIn();
    const { status, headers } = await browser.open(party.logout({ id_token_hint, post_logout_redirect_uri: BYE }));
    expect([status, headers['location']]).toEqual([303, BYE]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: our own page', async () => {
    const { browser, id_token: id_token_hint } = await party.signedIn();
    await expectSignedOut(await browser.open(party.logout({ id_token_hint })), browser);
  });

  test.each([
    ['oidcc-rp-initiated-logout-no-params', {}],
    ['oidcc-rp-initiated-logout-only-state', { state: 's' }],
  ])('%s: the person is asked, and then signed out', async (_, parameters: object) => {
    const { browser } = await party.signedIn();
    const page = await browser.open(party.logout(parameters as Record<string, string>));
    await expectQuestion(page, browser);
    await expectSignedOut(await browser.submit(page, {}), browser);
  });

  test('oidcc-rp-initiated-logout-no-id-token-hint: the person is asked, and is not sent to the address', async () => {
    const { browser } = await party.signedIn();
    const page = await browser.open(party.logout({ post_logout_redirect_uri: BYE, state: 's' }));
    await expectQuestion(page, browser);
    await expectSignedOut(await browser.submit(page, {}), browser);
  });

  test.each([
    ['oidcc-rp-initiated-logout-bad-id-token-hint', resigned],
    ['oidcc-rp-initiated-logout-modified-id-token-hint', unsigned],
  ])('%s: the person is asked, and is not sent to the address', async (_, change) => {
    const { browser, id_token } = await party.signedIn();
    const asked = { id_token_hint: change(id_token), post_logout_redirect_uri: BYE, state: 's' };
    const page = await browser.open(party.logout(asked));
    await expectQuestion(page, browser);
    await expectSignedOut(await browser.submit(page, {}), browser);
  });

  test.each([
    ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', 'https://evil.example.com/'],
    ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', `${BYE}?foo=bar`],
  ])('%s: our own page, and no redirect', async (_, post_logout_redirect_uri) => {
    const { browser, id_token: id_token_hint } = await party.signedIn();
    await expectSignedOut(await browser.open(party.logout({ id_token_hint, post_logout_redirect_uri })), browser);
  });

  test('oidcc-rp-initiated-logout-discovery-endpoint-verification: the metadata name the end session endpoint', async () => {
    const metadata = (await (await fetch(`${party.issuer}/.well-known/openid-configuration`)).json()) as object;
    expect(metadata).toHaveProperty('end_session_endpoint', `${party.issuer}/logout`);
  });
});
