import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { Person, type Tab } from '../tab.ts';
import { asksForPassword, holds, openPage, type PageStand, press, reads, signIn, startPage } from './page-stand.ts';

/** A file of the page from before an upgrade is answered as one that is gone, and the server is of another version. */
async function upgrade({ page }: Tab): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname === '/ui/settings.json') return void request.respond({ body: '{"version":"another"}' });
    if (pathname.startsWith('/assets/')) return void request.respond({ status: 404, body: '{}' });
    return void request.continue();
  });
}

/** Time limits of the page are over after a twentieth of a second if they are this long. */
const hurry = ({ page }: Tab, ms: number) =>
  page.evaluateOnNewDocument(`{
    const real = setTimeout;
    window.setTimeout = (work, after, ...rest) => real(work, after === ${ms} ? 50 : after, ...rest);
  }`);

/** Ends every session of Ada, as an administrator may. */
async function revoke({ service }: PageStand): Promise<void> {
  const { access_token: token } = await service.signIn('ada');
  await service.call('/oauth/logout?all=true', { token });
}

describe('a tab that is left open', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-08 says after an upgrade that it is to be loaded again, to a reader who comes back to it, and where a file is gone', async () => {
    const stand = await startPage();
    const person = await Person.at(running.browser);
    const [tab, other] = [await person.tab(), await person.tab()];
    await tab.page.bringToFront();
    await tab.page.evaluateOnNewDocument(
      `window.setTimeout = ((real) => (work, after, ...rest) => after === 5000 ? 0 : real(work, after, ...rest))(setTimeout)`,
    );
    await signIn(tab, stand, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    await upgrade(tab);
    await press(tab, 'API', 'nav');
    await reads(tab, 'This view could not be loaded.');
    expect(await tab.text()).not.toContain('has been upgraded');
    await other.page.bringToFront();
    await holds(tab, `document.visibilityState === 'hidden'`);
    await tab.page.bringToFront();
    await reads(tab, 'The server has been upgraded since this page was loaded.');
    expect(await tab.page.$$eval('main button', (all) => all.map((one) => one.textContent))).toEqual([
      'Load again',
      'Load again',
    ]);
  });

  test('W-12 gives its stream back after a minute in which nobody looks at it', async () => {
    const stand = await startPage();
    const person = await Person.at(running.browser);
    const [tab, other] = [await person.tab(), await person.tab()];
    await tab.page.bringToFront();
    await hurry(tab, 60_000);
    await signIn(tab, stand, 'ada', '/ui/nodes');
    await reads(tab, 'live');
    const ended = new Promise<void>((resolve) => {
      const settle = (request: { url(): string }): void => void (request.url().includes('watch=true') && resolve());
      tab.page.on('requestfailed', settle);
      tab.page.on('requestfinished', settle);
    });
    await other.page.bringToFront();
    await ended;
    await holds(tab, `document.querySelector('.live.on') === null`);
    await tab.page.bringToFront();
    await holds(tab, `document.querySelector('.live.on') !== null`);
  });

  test.each([
    ['Invite a user', '/ui/users'],
    ['Remove', '/ui/users/ivy'],
    ['Disable', '/ui/users/ivy'],
    ['Set a first password', '/ui/users/ivy'],
    ['Sign out everywhere', '/ui/account'],
  ])('W-04 a session that ends while the dialog "%s" is open leads to the sign-in', async (words, path) => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ada', path);
    await press(tab, words);
    await holds(tab, `document.querySelector('dialog[open]') !== null`);
    await revoke(stand);
    await asksForPassword(tab);
    expect(await tab.page.evaluate('new URLSearchParams(location.search).get("to")')).toBe(path);
  });
});
