import { type Dispatcher, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { answerProblems, describedOperations, type Operation } from '../../contract/description.ts';
import { Browser } from '../../support/browser.ts';
import { startDrivenReady } from '../service/driven.ts';
import { eventually, NODES, passwordOf, type Service, startCluster, startService } from '../service/stand.ts';
import { CONFIG, COOKIE, OF_PAGE, OTHER, SAME_ORIGIN, signedIn, start, urlOf } from './page-stand.ts';

const SESSION = '/ui/session';

/** Sends exactly these headers, and gives the answer as `fetch` would. */
async function send(
  service: Service,
  headers: Record<string, string>,
  method: Dispatcher.HttpMethod = 'POST',
  path = SESSION,
): Promise<Response> {
  const { statusCode: status, headers: all, body } = await request(urlOf(service, path), { method, headers });
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return new Response(status === 204 ? null : await body.text(), { status, headers: new Headers(pairs) });
}

// biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
const jsonOf = (answer: Response): Promise<any> => answer.json();

/** The value that an answer gives the session's cookie. */
function cookieOf(answer: Response): string | undefined {
  const set = answer.headers.getSetCookie().find((text) => text.startsWith(`${COOKIE}=`));
  return set?.slice(0, set.indexOf(';'));
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const operation = (name: string): Operation => describedOperations().get(name) as Operation;

describe('W-06 the page keeps its session', () => {
  test('W-06 it says who is signed in and for how long, and is kept by nobody', async () => {
    const { service, ofPage, own } = await start();
    const answer = await send(service, { ...ofPage, Origin: own });
    expect(await answerProblems(operation('POST /ui/session'), answer.clone())).toEqual([]);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(answer.headers.get('content-security-policy')).toMatch("script-src 'self'");
    const { user, groups, ...times } = await jsonOf(answer);
    expect([user, groups]).toEqual(['ada', expect.arrayContaining(['admins'])]);
    const [started, ends, idleEnds] = ['sessionStarted', 'endsAt', 'idleEndsAt'].map((name) => Date.parse(times[name]));
    expect(Number(ends) - Number(started)).toBe(12 * HOUR);
    expect(Number(idleEnds) - Number(started)).toBeGreaterThanOrEqual(2 * HOUR);
    expect(Number(idleEnds)).toBeLessThan(Number(ends));
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/; Path=\/; HttpOnly; SameSite=Lax$/)]);
  });

  test('W-06 each renewal lasts for `browserSessionIdle`, and none beyond `browserSessionMaxAge`', async () => {
    const lives = { browserSessionIdle: '10m', browserSessionMaxAge: '25m' };
    const config = { ...CONFIG, authentication: { oauthOptions: lives } };
    const { service, clock } = await startDrivenReady(await startCluster(), { config });
    const { cookie: first } = await clock.during(signedIn(service));
    const own = { ...OF_PAGE, ...SAME_ORIGIN, Origin: service.gatehouse.origin };
    const renew = (Cookie: string) => clock.during(send(service, { ...own, Cookie }));
    const minutes = (count: number) => clock.spend(count * 60 * SECOND);
    await minutes(8);
    const second = await renew(first);
    expect(second.status).toBe(200);
    await minutes(8);
    expect((await renew(first)).status).toBe(401); // its own ten minutes are over
    const third = await renew(String(cookieOf(second)));
    const { endsAt, idleEndsAt } = await jsonOf(third);
    expect([third.status, idleEndsAt]).toEqual([200, endsAt]); // the greatest age comes first
    await minutes(10);
    const last = await renew(String(cookieOf(third)));
    expect([last.status, cookieOf(last)]).toEqual([401, undefined]);
  });

  test('W-06 calls of the API do not lengthen the session', async () => {
    const { service, ofPage } = await start();
    const answer = await send(service, ofPage, 'GET', NODES);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  });

  test.each(['POST', 'DELETE'] as const)(
    'W-01 W-02 a %s of anybody but the page itself does nothing',
    async (method) => {
      const { service, ofPage, own, cookie } = await start();
      const { access_token: token } = await service.signIn('ada');
      const good = { ...ofPage, Origin: own };
      const { Origin: _origin, ...withoutOrigin } = good;
      const requests: Record<string, Record<string, string>> = {
        'without a cookie': { ...OF_PAGE, ...SAME_ORIGIN, Origin: own },
        'without the header': { Cookie: cookie, ...SAME_ORIGIN, Origin: own },
        'from another site': { ...good, 'Sec-Fetch-Site': 'cross-site' },
        'from another origin': { ...good, Origin: OTHER },
        'without an origin': withoutOrigin,
        'from the page of a form': { ...good, Origin: 'null' },
        'with a bearer alone': { Authorization: `Bearer ${token}` },
        'with a bearer beside the cookie': { ...good, Authorization: `Bearer ${token}` },
      };
      for (const [name, headers] of Object.entries(requests)) {
        const answer = await send(service, headers, method);
        expect([name, answer.status, answer.headers.getSetCookie()]).toEqual([name, 401, []]);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gatehouse"');
      }
      expect((await send(service, ofPage, 'GET', NODES)).status).toBe(200);
    },
  );
});

describe('W-05 the sign-out of the page', () => {
  test('W-05 ends the session everywhere it was copied to, and leaves nothing in the browser', async () => {
    const { service, ofPage, own } = await start();
    const renewed = await send(service, { ...ofPage, Origin: own });
    const left = await send(service, { ...ofPage, Origin: own, 'X-Request-Id': 'leaving' }, 'DELETE');
    expect(await answerProblems(operation('DELETE /ui/session'), left.clone())).toEqual([]);
    expect([left.status, left.headers.get('clear-site-data'), left.headers.get('cache-control')]).toEqual([
      204,
      '"cache", "storage"',
      'no-store',
    ]);
    expect(left.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^gatehouse-session=; .*Max-Age=0$/),
      expect.stringMatching(/^gatehouse-browser=; .*Max-Age=0$/),
    ]);
    for (const Cookie of [ofPage.Cookie, String(cookieOf(renewed))]) {
      const after = await send(service, { ...ofPage, Cookie }, 'GET', NODES);
      expect([after.status, (await jsonOf(after)).message]).toEqual([
        401,
        expect.stringContaining('the session of this browser has ended'),
      ]);
    }
    const lines = () => service.gatehouse.log.filter(({ event }) => event === 'sign_out');
    const [line] = await eventually(lines, ({ length }) => length > 0);
    expect(line).toMatchObject({
      ...{ result: 'ok', user: 'ada', clientId: 'gatehouse:page', sid: expect.any(String) },
      ...{ scope: 'session', requestId: 'leaving' },
    });
  });

  test('W-05 with `all=true` ends every session of the person, and without it none of other devices', async () => {
    const { service, ofPage, own } = await start();
    const [elsewhere, again] = [await signedIn(service), await signedIn(service)];
    const asElsewhere = { ...ofPage, Cookie: elsewhere.cookie };
    const { access_token: token } = await service.signIn('ada');
    const leave = (Cookie: string, query: string) =>
      send(service, { ...ofPage, Origin: own, Cookie }, 'DELETE', SESSION + query);
    expect((await leave(ofPage.Cookie, '?all=false')).status).toBe(204);
    expect((await send(service, asElsewhere, 'GET', NODES)).status).toBe(200);
    expect((await leave(again.cookie, '?all=maybe')).status).toBe(400);
    expect((await send(service, { ...ofPage, Cookie: again.cookie }, 'GET', NODES)).status).toBe(200);
    expect((await leave(again.cookie, '?all=true')).status).toBe(204);
    expect((await send(service, asElsewhere, 'GET', NODES)).status).toBe(401);
    expect((await service.list(token)).status).toBe(401);
  });

  test('W-05 an end that cannot be written is 503 in the words of the API, and the cookie stays', async () => {
    const cluster = await startCluster();
    const service = await startService(cluster, { config: { ...CONFIG, sessions: { store: 'kubernetes' } } });
    const { cookie } = await signedIn(service);
    const ofPage = { Cookie: cookie, ...OF_PAGE, ...SAME_ORIGIN, Origin: service.gatehouse.origin };
    const works = cluster.faults.until(
      { kind: 'secrets', when: ({ verb }) => verb === 'create' || verb === 'update' || verb === 'patch' },
      { status: 500 },
    );
    const failed = await send(service, ofPage, 'DELETE');
    expect([failed.status, failed.headers.getSetCookie(), failed.headers.get('clear-site-data')]).toEqual([
      503,
      [],
      null,
    ]);
    expect(await jsonOf(failed)).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' });
    expect((await send(service, ofPage, 'GET', NODES)).status).toBe(200);
    works();
    expect((await send(service, ofPage, 'DELETE')).status).toBe(204);
  });

  test('W-05 the sign-out by a page of the sign-in clears as well where there is a page, and only there', async () => {
    const redirectURI = 'https://app.example.com/callback';
    const clients = [{ name: 'app', public: true, redirectURIs: [redirectURI] }];
    const cleared = async (config: object) => {
      const service = await startService(await startCluster(), {
        config: { ...config, authentication: { oauthOptions: { clients } } },
      });
      const browser = new Browser();
      const query = `client_id=app&response_type=code&redirect_uri=${redirectURI}&code_challenge_method=S256&code_challenge=${'c'.repeat(43)}`;
      const form = await browser.open(urlOf(service, `/oauth/authorize?${query}`));
      const at = await browser.submit(form, { username: 'ada', password: passwordOf('ada') });
      const asked = await browser.open(urlOf(service, '/oauth/logout'));
      const done = await browser.submit(asked, {});
      return [at, asked, done].map(({ status, headers }) => [status, headers['clear-site-data']]);
    };
    expect(await cleared(CONFIG)).toEqual([
      [303, undefined],
      [200, undefined],
      [200, '"cache", "storage"'],
    ]);
    expect(await cleared({ page: { enabled: false } })).toEqual([
      [303, undefined],
      [200, undefined],
      [200, undefined],
    ]);
  });
});
