import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRANDS, startBrowser } from './browser.ts';
import { ADA, NATIVE_CALLBACK, newRequest, startStand } from './stand.ts';
import { Person, type Tab } from './tab.ts';

/** The life of a page and of what is sealed in it. */
const PAGE_MS = 600_000;

const WRONG = { ...ADA, password: 'wrong' };

describe.each(BRANDS)('a person with %s', (brand) => {
  let browser: Browser;
  let end = async (): Promise<void> => {};
  beforeAll(async () => {
    ({ browser, end } = await startBrowser(brand));
  });
  afterAll(() => end());

  /** A tab with the sign-in page, for a request with these parameters. */
  async function atPage(more: Readonly<Record<string, string>> = {}) {
    const stand = await startStand();
    const person = await Person.at(browser);
    const tab = await person.tab();
    const request = await newRequest(stand, more);
    const answer = await tab.open(request.url);
    return { stand, person, tab, answer, ...request };
  }

  test('B-22 B-23 gets a page without script, types name and password, and comes to the application with a code', async () => {
    const { stand, tab, answer, state, redeem } = await atPage();
    expect(answer.status()).toBe(200);
    await expect.poll(tab.look).toEqual({
      path: '/oauth/authorize',
      title: 'Sign in – gatehouse',
      language: 'en',
      heading: 'Sign in',
      alert: undefined,
      focus: 'username',
      fields: { username: '', password: '' },
      scripts: 0,
    });
    await tab.submit(ADA);
    await expect.poll(tab.look).toMatchObject({ path: '/callback', heading: 'Welcome' });
    const [arrival = new URLSearchParams(), ...others] = stand.application.arrivals;
    expect([others, arrival.get('state'), arrival.get('iss')]).toEqual([[], state, stand.issuer]);
    expect(await redeem()).toMatchObject({ user: 'ada' });
    expect(tab.complaints).toEqual([]);
  });

  test.each([
    ['by https', { scheme: 'https' }, '__Host-gatehouse-browser', true],
    ['by plain http, where browsers say less about a request', { host: 'gatehouse.test' }, 'gatehouse-browser', false],
  ] as const)('B-24 signs in %s', async (_how, place, name, secure) => {
    const stand = await startStand(place);
    const person = await Person.at(browser);
    const tab = await person.tab();
    const { url, redeem } = await newRequest(stand);
    await tab.open(url);
    expect(await person.context.cookies()).toEqual([
      expect.objectContaining({ name, secure, httpOnly: true, sameSite: 'Lax', session: true }),
    ]);
    await tab.submit(ADA);
    expect(await redeem()).toMatchObject({ user: 'ada' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-23 is handed over to a native application, which has a scheme of its own', async () => {
    const { tab } = await atPage({ client: 'phone', redirect: NATIVE_CALLBACK });
    const seen: string[] = [];
    tab.page.on('request', (request) => void seen.push(request.url()));
    tab.page.on('requestfailed', (request) => void seen.push(`${request.failure()?.errorText}`));
    if (brand === 'Chromium') await noteRedirects(tab.page, seen);
    await tab.type(ADA);
    await tab.page.click('form button');
    // Chromium shows the address that it goes to. Firefox shows only that no program of this machine has the scheme.
    const left = brand === 'Chromium' ? /^com\.example\.app:\/callback\?code=/ : /^NS_ERROR_UNKNOWN_PROTOCOL$/;
    await expect.poll(() => seen).toContainEqual(expect.stringMatching(left));
    expect(tab.complaints).toEqual([]);
  });

  test('B-22 B-25 sees what was wrong after a wrong password, keeps the name, and types the password again', async () => {
    const { tab, redeem } = await atPage();
    expect((await tab.submit(WRONG)).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({
      path: '/oauth/sign-in',
      alert: 'The name or the password is not correct.',
      focus: 'password',
      fields: { username: 'ada', password: '' },
      scripts: 0,
    });
    await tab.submit({ password: ADA.password });
    expect(await redeem()).toMatchObject({ user: 'ada' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-22 signs in by the keyboard alone', async () => {
    const { tab, redeem } = await atPage();
    const { keyboard } = tab.page;
    await expect.poll(tab.look).toMatchObject({ focus: 'username' });
    await keyboard.type(ADA.username);
    await keyboard.press('Tab');
    await keyboard.type(ADA.password);
    await Promise.all([tab.page.waitForNavigation(), keyboard.press('Enter')]);
    expect(await redeem()).toMatchObject({ user: 'ada' });
  });

  test('B-25 is told how long to wait after too many wrong passwords', async () => {
    const { tab } = await atPage();
    const statuses: number[] = [];
    while (!statuses.includes(429) && statuses.length < 10) statuses.push((await tab.submit(WRONG)).status());
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const { alert, fields } = await tab.look();
    expect(alert).toMatch(/^There were too many failed sign-ins\.\nTry again in \d+ minutes\.$/);
    expect(fields['username']).toBe('ada');
    expect(tab.complaints).toEqual([]);
  });

  test('B-22 is kept from sending empty fields by the browser, and told by the page where the browser does not', async () => {
    const { tab } = await atPage();
    await tab.page.click('form button');
    await expect.poll(tab.look).toMatchObject({ path: '/oauth/authorize', focus: 'username' });
    expect(await tab.page.$$eval('input:invalid', (inputs) => inputs.map(({ id }) => id))).toEqual([
      'username',
      'password',
    ]);
    await tab.page.$eval('form', (form) => form.setAttribute('novalidate', ''));
    expect((await tab.submit()).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({ alert: 'Enter a name and a password.', focus: 'username' });
  });

  test('B-05 comes to the application by a form, with one click', async () => {
    const { stand, tab, state, redeem } = await atPage({ response_mode: 'form_post' });
    await tab.submit(ADA);
    await expect
      .poll(tab.look)
      .toMatchObject({ heading: 'You are signed in', focus: 'Continue', fields: {}, scripts: 0 });
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ path: '/callback', heading: 'Welcome' });
    const [arrival = new URLSearchParams()] = stand.application.arrivals;
    expect(arrival.get('state')).toBe(state);
    expect(await redeem()).toMatchObject({ user: 'ada' });
    expect(tab.complaints).toEqual([]);
  });

  test('B-24 signs in in two tabs, each with a page of its own', async () => {
    const { stand, person, tab, state } = await atPage();
    const [other, second] = [await newRequest(stand), await person.tab()];
    await second.open(other.url);
    await tab.submit(ADA);
    await second.submit(ADA);
    expect(stand.application.arrivals.map((arrival) => arrival.get('state'))).toEqual([state, other.state]);
  });

  test('B-20 is told that a page has expired after ten minutes', async () => {
    const { stand, tab } = await atPage();
    stand.moveClock(PAGE_MS + 1_000);
    expect((await tab.submit(ADA)).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({
      heading: 'You cannot continue here',
      alert: 'This page has expired. Go back to the application and begin again.',
      scripts: 0,
    });
    expect(stand.application.arrivals).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });

  test('B-24 begins again after the browser has lost the cookie', async () => {
    const { stand, person, tab, state } = await atPage();
    await person.context.deleteCookie(...(await person.context.cookies()));
    expect((await tab.submit(ADA)).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({ heading: 'You cannot continue here', scripts: 0 });
    await tab.follow('main a');
    await tab.submit(ADA);
    expect(stand.application.arrivals.map((arrival) => arrival.get('state'))).toEqual([state]);
    expect(tab.complaints).toEqual([]);
  });

  test('B-11 comes back at once with `prompt=none`, and gets the page with the hinted name with `prompt=login`', async () => {
    const { stand, tab } = await atPage({ prompt: 'none' });
    await expect.poll(tab.look).toMatchObject({ path: '/callback', heading: 'Welcome' });
    expect(stand.application.arrivals.map((arrival) => arrival.get('error'))).toEqual(['login_required']);
    await tab.open((await newRequest(stand, { prompt: 'login', login_hint: 'ada' })).url);
    await expect.poll(tab.look).toMatchObject({ fields: { username: 'ada' }, focus: 'password' });
  });

  test('B-22 reads Chinese if the browser or the application asks for it', async () => {
    const { stand, tab } = await atPage({ ui_locales: 'fr zh-CN' });
    const chinese = { title: '登录 – gatehouse', language: 'zh-CN', heading: '登录' };
    await expect.poll(tab.look).toMatchObject(chinese);
    await tab.page.setExtraHTTPHeaders({ 'Accept-Language': 'zh-CN,zh;q=0.8,en;q=0.5' });
    await tab.open((await newRequest(stand)).url);
    await expect.poll(tab.look).toMatchObject(chinese);
    await tab.submit(WRONG);
    await expect.poll(tab.look).toMatchObject({ language: 'zh-CN', alert: '用户名或密码不正确。' });
  });

  test('B-16 is sent to the page by a form of the application', async () => {
    const { stand, tab, url, state } = await atPage();
    stand.application.page = formFor(url.origin + url.pathname, url.searchParams);
    await tab.open(`${stand.application.origin}/page`);
    await tab.submit();
    await expect.poll(tab.look).toMatchObject({ path: '/oauth/authorize', heading: 'Sign in' });
    await tab.submit(ADA);
    expect(stand.application.arrivals.map((arrival) => arrival.get('state'))).toEqual([state]);
  });

  test('B-24 is not signed in by a form of another site', async () => {
    const { stand, tab } = await atPage();
    const form = new URLSearchParams({ request: String(await requestIn(tab)), ...ADA });
    stand.application.page = formFor(new URL('/oauth/sign-in', stand.issuer).href, form);
    await tab.open(`${stand.application.origin}/page`);
    expect((await tab.submit()).status()).toBe(403);
    expect(stand.application.arrivals).toEqual([]);
  });

  test('B-23 never sees the page in a frame of another site', async () => {
    const { stand, tab, url } = await atPage();
    stand.application.page = `<!doctype html><title>Trap</title><iframe src="${attribute(url.href)}"></iframe>`;
    await tab.open(`${stand.application.origin}/page`);
    const frame = await (await tab.page.$('iframe'))?.contentFrame();
    await expect.poll(() => frame?.url()).toMatch(/^(chrome-error:|about:neterror\?e=(cspBlocked|xfoBlocked))/);
    expect(await frame?.$('#password')).toBeNull();
  });
});

const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** A page of the application with a form for another address. */
function formFor(action: string, fields: URLSearchParams): string {
  const inputs = [...fields].map(([name, value]) => `<input type="hidden" name="${name}" value="${attribute(value)}">`);
  return `<!doctype html><title>Form</title><form method="post" action="${action}">${inputs.join('')}<button>Go</button></form>`;
}

/** The sealed request in the form. */
const requestIn = (tab: Tab): Promise<unknown> => tab.page.evaluate('document.forms[0].elements.request.value');

/** Adds the address of each redirect as the browser's network got it. Its events about requests may lack one to another scheme. */
async function noteRedirects(page: Page, seen: string[]): Promise<void> {
  const session = await page.createCDPSession();
  await session.send('Network.enable');
  session.on('Network.responseReceivedExtraInfo', ({ headers }) => {
    const location = headers['location'] ?? headers['Location'];
    if (location !== undefined) seen.push(location);
  });
}
