import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRANDS, startBrowser } from './browser.ts';
import { ADA, IVY, JOE, newRequest, type Place, type Stand, startAccountStand, startStand } from './stand.ts';
import { Person, type Tab } from './tab.ts';

const OWN = 'My-own-choice-1';

describe.each(BRANDS)('a person who is signed in with %s', (brand) => {
  let browser: Browser;
  let end = async (): Promise<void> => {};
  beforeAll(async () => {
    ({ browser, end } = await startBrowser(brand));
  });
  afterAll(() => end());

  /** Ada in a tab, after she has come to the dashboard. */
  async function signedIn(place?: Place) {
    const stand = await startStand(place);
    const person = await Person.at(browser);
    const tab = await person.tab();
    const { url, redeem } = await newRequest(stand);
    await tab.open(url);
    await tab.submit(ADA);
    return { stand, person, tab, redeem };
  }

  /** Sends the tab to Gatehouse with a request that has these parameters. */
  async function comes(tab: Tab, stand: Stand, more: Readonly<Record<string, string>> = {}) {
    const request = await newRequest(stand, more);
    await tab.open(request.url);
    return request;
  }

  test('B-27 comes to another application without a page, by a cookie that ends with the browser', async () => {
    const { stand, person, tab } = await signedIn();
    const { redeem } = await comes(tab, stand, { client: 'console' });
    await expect.poll(tab.look).toMatchObject({ path: '/callback', heading: 'Welcome' });
    expect(await redeem()).toMatchObject({ user: 'ada' });
    const cookies = await person.context.cookies();
    expect(cookies.find(({ name }) => name === 'gatehouse-session')).toMatchObject({
      ...{ httpOnly: true, sameSite: 'Lax', session: true, secure: false },
    });
    expect(tab.complaints).toEqual([]);
  });

  test('B-27 never sees the password again with the button "back"', async () => {
    const { stand, tab } = await signedIn();
    await tab.back();
    await expect.poll(() => stand.application.arrivals.length).toBe(2);
    await expect.poll(tab.look).toMatchObject({ path: '/callback', fields: {} });
  });

  test('B-27 sees no password with "back" after a wrong one, since no browser repeats the form by itself', async () => {
    const stand = await startStand();
    const tab = await (await Person.at(browser)).tab();
    await tab.open((await newRequest(stand)).url);
    await tab.submit({ ...ADA, password: 'wrong' });
    await tab.submit({ password: ADA.password });
    await tab.back();
    await expect.poll(() => tab.page.url()).toMatch(/^(chrome-error:|about:neterror)/);
    await tab.back();
    await expect.poll(() => stand.application.arrivals.length).toBe(2);
  });

  test('B-11 B-29 types the password again for `prompt=login`, and reads who is signed in', async () => {
    const { stand, tab } = await signedIn();
    const { redeem } = await comes(tab, stand, { prompt: 'login' });
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in', fields: { username: 'ada', password: '' } });
    expect(await tab.text()).toContain('You are signed in as ada');
    await tab.submit({ password: ADA.password });
    expect(await redeem()).toMatchObject({ user: 'ada' });
    await tab.back();
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in', fields: { password: '' } });
    expect(tab.complaints).toEqual([]);
  });

  test('B-11 B-29 signs in with another account, which then has the session', async () => {
    const { stand, tab } = await signedIn();
    await comes(tab, stand, { prompt: 'select_account' });
    await expect.poll(tab.look).toMatchObject({ focus: 'username', fields: { username: '', password: '' } });
    await tab.submit(JOE);
    const { redeem } = await comes(tab, stand, { client: 'console' });
    expect(await redeem()).toMatchObject({ user: 'joe' });
  });

  test('B-17 is asked before an application gets anything, refuses, and then allows it once for all', async () => {
    const { stand, tab } = await signedIn();
    const grafana = { client: 'grafana', scope: 'openid email' };
    await comes(tab, stand, grafana);
    await expect.poll(tab.look).toMatchObject({ heading: 'Allow access?', scripts: 0 });
    expect(await tab.text()).toMatch(
      new RegExp(
        `grafana wants to use your account.*your e-mail address.*${new URL(stand.application.origin).host}.*ada.*another`,
        's',
      ),
    );
    await tab.submit({}, 'button[value=deny]');
    expect(stand.application.arrivals.at(-1)?.get('error')).toBe('access_denied');
    const { redeem } = await comes(tab, stand, grafana);
    await tab.submit({}, 'button[value=allow]');
    expect(await redeem()).toMatchObject({ user: 'ada' });
    await comes(tab, stand, grafana);
    await expect.poll(tab.look).toMatchObject({ path: '/callback' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-17 is asked each time by a program of this machine, which may be any program', async () => {
    const { stand, tab } = await signedIn();
    for (let count = 0; count < 2; count++) {
      const { redeem } = await comes(tab, stand, { client: 'laptop' });
      await expect.poll(tab.look).toMatchObject({ heading: 'Allow access?' });
      await tab.submit({}, 'button[value=allow]');
      expect(await redeem()).toMatchObject({ user: 'ada' });
    }
  });

  test('B-17 B-29 takes another account when an application asks', async () => {
    const { stand, tab } = await signedIn();
    const { redeem } = await comes(tab, stand, { client: 'grafana' });
    await tab.follow('main a');
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in', fields: { username: '' } });
    await tab.submit(JOE);
    expect(await tab.text()).toContain('joe');
    await tab.submit({}, 'button[value=allow]');
    expect(await redeem()).toMatchObject({ user: 'joe' });
  });

  test('B-26 chooses a password after a first one, is told which rule it breaks, and comes to the application', async () => {
    const stand = await startAccountStand();
    const tab = await (await Person.at(browser)).tab();
    const { url, redeem } = await newRequest(stand);
    await tab.open(url);
    await tab.submit(IVY);
    await expect.poll(tab.look).toMatchObject({ heading: 'Choose your own password', focus: 'password', scripts: 0 });
    expect((await tab.submit({ password: 'no-digit-Here', repeated: 'no-digit-Here' })).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({ alert: 'The password needs a digit (0 to 9).', focus: 'password' });
    expect((await tab.submit({ password: OWN, repeated: `${OWN}2` })).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({ alert: 'The two passwords are different.' });
    await tab.submit({ password: OWN, repeated: OWN });
    expect(await redeem()).toMatchObject({ user: 'ivy' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-51 is asked before a sign-out that any site can have begun, and types the password afterwards', async () => {
    const { stand, tab } = await signedIn();
    await tab.open(`${stand.issuer}/logout`);
    await expect.poll(tab.look).toMatchObject({ heading: 'Do you want to sign out?', focus: 'Sign out', scripts: 0 });
    await comes(tab, stand, { client: 'console' });
    await expect.poll(tab.look).toMatchObject({ path: '/callback' });
    await tab.open(`${stand.issuer}/logout`);
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ heading: 'You are signed out' });
    await comes(tab, stand, { client: 'console' });
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-51 goes back to the application after the question', async () => {
    const { stand, tab } = await signedIn();
    await tab.open(`${stand.issuer}/logout?${new URLSearchParams({ client_id: 'dashboard', ...goodbye(stand) })}`);
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ path: '/bye', heading: 'Goodbye' });
  });

  test('B-53 signs out on every device', async () => {
    const { stand, tab } = await signedIn();
    const other = await (await Person.at(browser)).tab();
    await comes(other, stand);
    await other.submit(ADA);
    await tab.open(`${stand.issuer}/logout`);
    await tab.page.click('input[name=all]');
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ heading: 'You are signed out' });
    await comes(other, stand);
    await expect.poll(other.look).toMatchObject({ heading: 'Sign in' });
  });

  test('B-50 is signed out at once by the application that has the ID token', async () => {
    const { stand, tab, redeem } = await signedIn();
    const { idToken = '' } = await redeem();
    await tab.open(`${stand.issuer}/logout?${new URLSearchParams({ id_token_hint: idToken, ...goodbye(stand) })}`);
    await expect.poll(tab.look).toMatchObject({ path: '/bye', heading: 'Goodbye' });
    await comes(tab, stand);
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in' });
  });

  test.each([
    ['of the same site gets a code', undefined, 'code'],
    ['of another site, to which no cookie is sent, gets `login_required`', { host: 'gatehouse.test' }, 'error'],
  ] as const)('B-11 a silent request in a frame %s', async (_who, place, parameter) => {
    const { stand, tab } = await signedIn(place);
    const { url } = await newRequest(stand, { prompt: 'none' });
    stand.application.page = `<!doctype html><title>Frame</title><iframe src="${url.href.replaceAll('&', '&amp;')}"></iframe>`;
    await tab.open(`${stand.application.origin}/page`);
    await expect.poll(() => stand.application.arrivals.length).toBe(2);
    expect(stand.application.arrivals.at(-1)?.get(parameter)).toMatch(parameter === 'code' ? /./ : /^login_required$/);
  });
});

const goodbye = ({ application }: Stand) => ({ post_logout_redirect_uri: `${application.origin}/bye`, state: 's' });
