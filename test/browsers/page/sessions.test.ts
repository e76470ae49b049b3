import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../integration/service/stand.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { Person } from '../tab.ts';
import {
  asksForPassword,
  holds,
  openPage,
  passwordOf,
  press,
  reads,
  refuse,
  rowsOf,
  signIn,
  startPage,
} from './page-stand.ts';

describe('the session of the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-04 leads to the sign-in page and back to the address, with its filters', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes?name=worker-b&sort=name');
    await reads(tab, '3 nodes');
    expect(await tab.page.evaluate('location.pathname + location.search')).toBe('/ui/nodes?name=worker-b&sort=name');
    expect(tab.complaints).toEqual([]);
  });

  test('W-04 says that the server does not know the page, and does not go to and fro between it and the sign-in', async () => {
    const stand = await startPage();
    const tab = await (await Person.at(running.browser)).tab();
    await tab.page.goto(stand.origin);
    await tab.page.waitForSelector('#password');
    const visits: string[] = [];
    tab.page.on('framenavigated', (frame) => visits.push(new URL(frame.url()).pathname));
    const allow = await refuse(tab, '/ui/session', 401);
    await tab.submit({ username: 'ada', password: passwordOf('ada') });
    await reads(tab, 'the server does not know this page');
    expect(visits).toEqual(['/']);
    await allow();
    await tab.page.click('main button');
    await tab.page.waitForSelector('nav.views');
  });

  test('W-01 reads the cluster over plain http at a host that is not this machine', async () => {
    const stand = await startPage();
    const tab = await (await Person.at(running.browser)).tab();
    const origin = stand.origin.replace('127.0.0.1', 'gatehouse.test');
    await signIn(tab, { ...stand, origin }, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    expect(await tab.page.evaluate('isSecureContext')).toBe(false);
  });

  test('W-04 shows the sign-in page when the session has ended elsewhere, and comes back to where one was', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes?name=worker-b');
    await reads(tab, '3 nodes');
    const { access_token: token } = await stand.service.signIn('ada');
    const ended = await stand.service.call('/oauth/logout?all=true', { token });
    expect(ended.status).toBeLessThan(300);
    await asksForPassword(tab);
    await tab.submit({ username: 'ada', password: passwordOf('ada') });
    await reads(tab, '3 nodes');
    expect(await tab.page.evaluate('location.search')).toBe('?name=worker-b');
  });

  test('W-04 a view without a table has a stream, too, which ends with the session, and there is one at a time', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/account');
    const open = new Set<string>();
    const cdp = await tab.page.createCDPSession();
    await cdp.send('Network.enable');
    cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (request.url.includes('watch=true'))
        open.add(`${requestId} ${new URL(request.url).pathname.split('/').at(-1)}`);
    });
    const isEnded = (requestId: string) => (one: string) => one.startsWith(`${requestId} `);
    for (const event of ['Network.loadingFinished', 'Network.loadingFailed'] as const)
      cdp.on(event, ({ requestId }) => void open.delete([...open].find(isEnded(requestId)) ?? ''));
    const followed = (): string[] => [...open].map((one) => one.split(' ')[1] ?? '');
    for (const [view, list] of [
      ['/ui/nodes', 'nodes'],
      ['/ui/account', 'namespaces'],
    ] as const) {
      await tab.page.evaluate(`document.querySelector('nav a[href="${view}"]').click()`);
      await eventually(
        async () => followed().join(),
        (lists) => lists === list,
      );
    }
    const { access_token: token } = await stand.service.signIn('ada');
    await stand.service.call('/oauth/logout?all=true', { token });
    await asksForPassword(tab);
    expect(await tab.page.evaluate('decodeURIComponent(location.search)')).toBe('?to=/ui/account');
  });

  test('W-05 a sign-out leaves nothing of the person in the browser, and the next one is asked who they are', async () => {
    const stand = await startPage();
    const person = await Person.at(running.browser);
    const tab = await person.tab();
    await signIn(tab, stand, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    await tab.page.click('.person summary');
    await tab.page.select('.person label:nth-of-type(2) select', 'dark');
    await holds(tab, `document.documentElement.dataset.theme === 'dark'`);
    expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual(['theme']);
    expect(await tab.page.evaluate('sessionStorage.length + document.cookie.length')).toBe(0);
    await tab.page.click('.person .menu button');
    await asksForPassword(tab);
    const cookies = (await person.context.cookies()).map(({ name }) => name);
    expect(cookies).not.toContain('gatehouse-session');
    expect(await tab.page.evaluate('localStorage.length')).toBe(0);
    await tab.page.goto(`${stand.origin}/ui/nodes`);
    await asksForPassword(tab);
  });

  test('W-03 the page has the rights of the person, and the log says that it was the page', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'dana', '/ui/resources/pods');
    await reads(tab, 'over the 2 namespaces that you may see');
    const asked = () =>
      stand.service
        .logged('request')
        .filter(({ route, user }) => user === 'dana' && String(route).startsWith('/kapis/resources'));
    const lines = await eventually(asked, ({ length }) => length > 0);
    expect(new Set(lines.map(({ clientId }) => clientId))).toEqual(new Set(['gatehouse:page']));
  });

  test('W-05 a sign-out is one in the other tabs of the browser at once, also in those that nobody looks at', async () => {
    const stand = await startPage();
    const person = await Person.at(running.browser);
    const [other, tab] = [await person.tab(), await person.tab()];
    await signIn(other, stand, 'ada', '/ui/api');
    await tab.page.goto(stand.origin);
    await tab.page.bringToFront();
    await reads(tab, 'Overview');
    await press(tab, 'ada', '.person');
    await press(tab, 'Sign out', '.person');
    await asksForPassword(tab);
    await asksForPassword(other);
  });

  test('W-05 a tab in which another person is signed in now shows nothing of the one before', async () => {
    const stand = await startPage();
    const [person, next] = [await Person.at(running.browser), await Person.at(running.browser)];
    const [other, tab] = [await person.tab(), await person.tab()];
    await signIn(tab, stand, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    await signIn(await next.tab(), stand, 'dana');
    await other.page.bringToFront();
    await holds(tab, `document.visibilityState === 'hidden'`);
    await person.context.setCookie(...(await next.context.cookies()));
    await tab.page.bringToFront();
    await reads(tab, 'You may not list nodes.');
    await holds(tab, `document.querySelector('.person summary').innerText.trim() === 'dana'`);
    expect(await rowsOf(tab)).toEqual([]);
  });

  test('the page comes in a browser that keeps nothing for it', async () => {
    const stand = await startPage();
    const tab = await (await Person.at(running.browser)).tab();
    await tab.page.evaluateOnNewDocument(`Object.defineProperty(window, 'localStorage', { value: null })`);
    await signIn(tab, stand);
    await press(tab, 'ada', '.person');
    await tab.page.select('.person label:nth-of-type(2) select', 'dark');
    await holds(tab, `document.documentElement.dataset.theme === 'dark'`);
    expect(tab.complaints).toEqual([]);
  });
});
