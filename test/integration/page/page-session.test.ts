import { describe, expect, test } from 'vitest';
import { send } from '../../support/browser.ts';
import { Watcher } from '../../support/watcher.ts';
import { startDrivenReady } from '../service/driven.ts';
import { eventually, NODES, type Service, startCluster, startService } from '../service/stand.ts';
import { CONFIG, COOKIE, OF_PAGE, OTHER, SAME_ORIGIN, signedIn, start, urlOf } from './page-stand.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

const get = (service: Service, headers: Record<string, string>, path = NODES) =>
  send(urlOf(service, path), { headers });

/** The status of each of these requests. */
async function statusesOf(
  service: Service,
  requests: Readonly<Record<string, Record<string, string>>>,
  send = get,
): Promise<Record<string, number>> {
  const all = Object.entries(requests).map(
    async ([name, headers]) => [name, (await send(service, headers)).status] as const,
  );
  return Object.fromEntries(await Promise.all(all));
}

describe('the session of a browser as a credential', () => {
  test('W-01 opens the API for the page, with the rights of the person, and for no other request', async () => {
    const { service, cookie, ofPage, own } = await start();
    const { status, text } = await get(service, ofPage);
    expect([status, JSON.parse(text).totalItems]).toEqual([200, 3]);
    const Cookie = cookie;
    const byOrigin = (Origin: string) => ({ Cookie, ...OF_PAGE, Origin });
    const bySite = (site: string) => ({ Cookie, ...OF_PAGE, 'Sec-Fetch-Site': site });
    const requests = {
      'without Sec-Fetch-Site, from our own origin': byOrigin(own),
      'without the header': { Cookie, ...SAME_ORIGIN },
      'with another value of the header': { Cookie, ...SAME_ORIGIN, 'X-Gatehouse-Page': 'true' },
      'with the header of another platform': { Cookie, ...SAME_ORIGIN, 'X-KubeSphere-Page': '1' },
      'from another site': bySite('cross-site'),
      'from another host of the site': bySite('same-site'),
      'typed into the address bar': bySite('none'),
      'with neither Sec-Fetch-Site nor Origin, as browsers read over plain http': { Cookie, ...OF_PAGE },
      'with neither of them, nor the header': { Cookie },
      'without Sec-Fetch-Site, from another origin': byOrigin(OTHER),
      'without Sec-Fetch-Site, from an opaque origin': byOrigin('null'),
      'without Sec-Fetch-Site, from our host by another scheme': byOrigin(own.replace('http:', 'https:')),
      'with an empty Authorization': { ...ofPage, Authorization: '' },
      'with another cookie': { ...ofPage, Cookie: `${COOKIE}=${'x'.repeat(100)}` },
      'with two cookies of the name': { ...ofPage, Cookie: `${cookie}; ${cookie}` },
      'with the cookie under another name': { ...ofPage, Cookie: cookie.replace('gatehouse-', 'other-') },
    };
    const refused = Object.fromEntries(Object.keys(requests).map((name) => [name, 401]));
    expect(await statusesOf(service, requests)).toEqual({
      ...refused,
      'without Sec-Fetch-Site, from our own origin': 200,
      'with neither Sec-Fetch-Site nor Origin, as browsers read over plain http': 200,
    });
  });

  test('W-01 is not looked at when a bearer is sent, good or bad', async () => {
    const { service, ofPage } = await start();
    const { access_token: joe } = await service.signIn('joe');
    expect((await get(service, { ...ofPage, Authorization: `Bearer ${joe}` })).status).toBe(403);
    const bad = await get(service, { ...ofPage, Authorization: 'Bearer bad' });
    expect([bad.status, JSON.parse(bad.text).message]).toEqual([401, expect.stringContaining('access token')]);
  });

  test('W-02 changes something only from our own origin', async () => {
    const { service, ofPage, own } = await start();
    const json = { ...ofPage, 'Content-Type': 'application/json' };
    let made = 0;
    const create = (to: Service, headers: Record<string, string>) => {
      const body = JSON.stringify({ metadata: { name: `made-${++made}` } });
      return send(urlOf(to, MAPS), { method: 'POST', body, headers });
    };
    const requests = {
      'from our own origin': { ...json, Origin: own },
      'without an origin': json,
      'without Sec-Fetch-Site and an origin': { Cookie: json.Cookie, ...OF_PAGE, 'Content-Type': 'application/json' },
      'from another origin': { ...json, Origin: OTHER },
      'from the page of a form': { ...json, Origin: 'null' },
    };
    expect(await statusesOf(service, requests, create)).toEqual({
      'from our own origin': 201,
      'without an origin': 401,
      'without Sec-Fetch-Site and an origin': 401,
      'from another origin': 401,
      'from the page of a form': 401,
    });
  });

  test('W-02 lets no page of another origin send the header, not even those of cors.origins', async () => {
    const console = 'https://console.example.com';
    const service = await startService(await startCluster(), { config: { ...CONFIG, cors: { origins: [console] } } });
    const headers = { Origin: console, 'Access-Control-Request-Method': 'GET' };
    const { url, ...options } = { url: urlOf(service, NODES), headers };
    const preflight = await fetch(url, { method: 'OPTIONS', ...options });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(console);
    expect(preflight.headers.get('access-control-allow-headers')).not.toMatch(/-page/i);
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('W-03 the logs, the audit trail and the metrics name the page, and nobody gets its cookie', async () => {
    const { cluster, service, cookie, ofPage } = await start();
    cluster.evidence.reset();
    await get(service, { ...ofPage, 'X-Request-Id': 'page-call' }, MAPS);
    const linesOf = () => service.gatehouse.log.filter(({ requestId }) => requestId === 'page-call');
    const lines = await eventually(linesOf, ({ length }) => length >= 2);
    for (const line of lines)
      expect(line).toMatchObject({ user: 'ada', clientId: 'gatehouse:page', sid: expect.any(String) });
    expect(await service.metric('gatehouse_token_verifications_total{result="page"}')).toBe(1);
    const value = cookie.slice(COOKIE.length + 1, COOKIE.length + 60);
    expect(JSON.stringify(service.gatehouse.log)).not.toContain(value);
    const sent = cluster.evidence.requests.filter(({ path }) => path === MAPS);
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(sent[0]?.headers).toLowerCase()).not.toMatch(/cookie|gatehouse-page/);
  });
});

describe('the sign-in for the page', () => {
  test('W-04 leads back to where one was, and needs no password while the session lasts', async () => {
    const service = await startService(await startCluster(), { config: CONFIG });
    const to = '/nodes?sortBy=name&labelSelector=a%3Db#node-a';
    const { answer, browser } = await signedIn(service, to);
    expect([answer.status, answer.headers['location']]).toEqual([303, to]);
    const again = await browser.open(urlOf(service, `/oauth/sign-in?to=${encodeURIComponent('/logs')}`));
    expect([again.status, again.headers['location']]).toEqual([303, '/logs']);
  });

  test('W-04 a session that was signed out ends the calls of the page, and its open streams within half a minute', async () => {
    const { service, clock } = await startDrivenReady(await startCluster(), { config: CONFIG });
    const { browser, cookie } = await clock.during(signedIn(service));
    const headers = { Cookie: cookie, ...OF_PAGE, ...SAME_ORIGIN };
    const watch = await clock.during(Watcher.open(urlOf(service, `${NODES}?watch=true`).href, headers));
    expect(watch.status).toBe(200);
    const asked = await clock.during(browser.open(urlOf(service, '/oauth/logout')));
    await clock.during(browser.submit(asked, {}));
    const after = await clock.during(get(service, headers));
    expect([after.status, JSON.parse(after.text).message]).toEqual([
      401,
      expect.stringContaining('session of this browser has ended'),
    ]);
    await clock.spend(31_000);
    await clock.until(() => watch.ending, Boolean);
    expect(watch.events.at(-1)?.object).toMatchObject({ code: 401 });
    expect(await service.metric('gatehouse_token_verifications_total{result="page_ended"}')).toBeGreaterThan(0);
  });
});

test('W-01 without the page no cookie is looked at, and nobody signs in for it', async () => {
  const cluster = await startCluster();
  const { cookie } = await signedIn(await startService(cluster, { config: CONFIG }));
  const off = await startService(cluster, { config: { page: { enabled: false } } });
  const refused = await get(off, { Cookie: cookie, ...OF_PAGE, ...SAME_ORIGIN });
  expect([refused.status, JSON.parse(refused.text).message]).toEqual([
    401,
    expect.stringContaining('no bearer token was sent'),
  ]);
  expect((await off.call('/oauth/sign-in')).status).toBe(405);
});
