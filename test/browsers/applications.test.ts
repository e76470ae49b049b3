import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedOutAt, startApacheStand } from '../clients/apache-stand.ts';
import { startHubStand } from '../clients/jupyterhub-stand.ts';
import { needs } from '../support/needs.ts';
import { startBrowser } from './browser.ts';
import { ADA } from './stand.ts';
import { Person } from './tab.ts';

/** The path of the page that asks for a name and a password. */
const AUTHORIZE = { path: '/oauth/authorize' };

describe('a person with Chromium', () => {
  let browser: Browser;
  let end = async (): Promise<void> => {};
  beforeAll(async () => {
    ({ browser, end } = await startBrowser('Chromium'));
  });
  afterAll(() => end());

  test('B-23 B-50 signs in to a site behind mod_auth_openidc, and signs out of it and of Gatehouse', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    const tab = await (await Person.at(browser)).tab();
    await tab.open(app.url);
    expect(await tab.look()).toMatchObject(AUTHORIZE);
    await tab.submit(ADA);
    await expect.poll(tab.text).toContain('REMOTE_USER=ada');
    expect(tab.page.url()).toBe(app.url.href);
    await tab.open(new URL(`/oidc/callback?logout=${encodeURIComponent(signedOutAt(app.url))}`, app.url));
    await expect.poll(() => tab.page.url()).toMatch(new RegExp(`^${signedOutAt(app.url)}`));
    await tab.open(app.url);
    expect(await tab.look()).toMatchObject(AUTHORIZE);
  });

  test('B-23 B-51 signs in to JupyterHub, and is asked before signing out at Gatehouse as well', async () => {
    const { home, issuer } = await startHubStand();
    const tab = await (await Person.at(browser)).tab();
    await tab.open(home);
    expect(await tab.look()).toMatchObject(AUTHORIZE);
    await tab.submit(ADA);
    await expect.poll(() => tab.page.url()).toBe(home);
    await tab.open(new URL('/hub/logout', home));
    await expect.poll(() => tab.page.url()).toBe(`${issuer}/logout`);
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ heading: 'You are signed out' });
    await tab.open(home);
    expect(await tab.look()).toMatchObject(AUTHORIZE);
  });
});
