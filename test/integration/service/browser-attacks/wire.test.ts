import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, FORM, NAVIGATION, OWN_FORM, send } from '../../../support/browser.ts';
import { RawConnection } from '../../gateway/raw-connection.ts';
import { type AttackStand, BROWSER, EVIL, SESSION, sealedIn, startAttackStand } from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
/** A browser in which Ada is signed in. */
let browser: Browser;
beforeAll(async () => {
  stand = await startAttackStand();
  browser = new Browser();
  await stand.signIn(browser);
});
afterAll(() => stand.stop());

const cookies = () => ({ Cookie: `${BROWSER}=${browser.cookie(BROWSER)}; ${SESSION}=${browser.cookie(SESSION)}` });

const FORMS = ['/oauth/sign-in', '/oauth/new-password', '/oauth/consent', '/oauth/sign-out'];
const target = () => stand.authorize().pathname + stand.authorize().search;
const raw = (text: string) => RawConnection.open(stand.gatehouse.port, text);
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** The page for people leads there, and brings a person who is signed in back to it at once, with a fresh cookie. */
const isVisit = (method: string, path: string): boolean =>
  path === '/oauth/sign-in' && ['GET', 'HEAD'].includes(method);

describe('another method, type or path', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])(
    'B-24 attempt 100: %s does nothing at the path of a form',
    async (method) => {
      for (const path of FORMS) {
        const headers = { ...NAVIGATION, ...cookies(), 'X-HTTP-Method-Override': 'POST', 'X-HTTP-Method': 'POST' };
        const answer = await request(stand.at(`${path}?_method=POST&decision=allow`), {
          method: method as Dispatcher.HttpMethod,
          headers,
        });
        await answer.body.dump();
        const { location, 'set-cookie': cookie } = answer.headers;
        const expected = isVisit(method, path) ? [303, '/', expect.anything()] : [405, undefined, undefined];
        expect([answer.statusCode, location, cookie]).toEqual(expected);
      }
    },
  );

  test('B-24 attempt 101: a HEAD gets what a GET gets, and demands as much', async () => {
    const head = { method: 'HEAD', headers: { ...NAVIGATION, ...cookies() } } as const;
    expect((await request(stand.authorize(), head)).statusCode).toBe(303);
    const image = { ...head, headers: { ...head.headers, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' } };
    expect((await request(stand.authorize(), image)).statusCode).toBe(403);
    expect((await request(stand.logout(), head)).statusCode).toBe(405);
    expect((await browser.open(stand.authorize({ prompt: 'none' }))).headers['location']).toContain('code=');
  });

  test('B-24 attempt 102: a method that a header or a parameter names does not count', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
      const page = await browser.open(stand.authorize({ prompt: 'login' }), { ...NAVIGATION, [name]: 'DELETE' });
      expect(page.text).toContain('id="password"');
    }
  });

  test('B-24 attempt 103: a form of a type that needs no preflight, or of another, is not read', async () => {
    const page = await browser.open(stand.authorize({ client_id: 'asking' }));
    const fields = { request: sealedIn(page), decision: 'allow' };
    for (const [type, body] of [
      ['text/plain', new URLSearchParams(fields).toString()],
      ['application/json', JSON.stringify(fields)],
      [
        'multipart/form-data; boundary=a',
        `--a\r\nContent-Disposition: form-data; name="decision"\r\n\r\nallow\r\n--a--\r\n`,
      ],
      ['application/x-www-form-urlencoded, text/plain', new URLSearchParams(fields).toString()],
      ['', new URLSearchParams(fields).toString()],
    ] as const) {
      const headers = { ...OWN_FORM, ...cookies(), ...(type ? { 'Content-Type': type } : {}) };
      expect((await send(stand.at('/oauth/consent'), { method: 'POST', body, headers })).status).toBe(400);
    }
    const inQuery = stand.at(`/oauth/consent?${new URLSearchParams(fields)}`);
    const empty = { method: 'POST', body: '', headers: { ...FORM, ...OWN_FORM, ...cookies() } } as const;
    expect((await send(inQuery, empty)).status).toBe(400);
  });

  test('B-24 attempt 104: another spelling of the path has the same demands, or does not exist', async () => {
    const asImage = { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };
    for (const path of [
      ...['/oauth/authorize', '/oauth/authorize/', '/oauth/%61uthorize', '/oauth//authorize', '/oauth/./authorize'],
      ...[
        '/oauth/x/../authorize',
        '/oauth/authorize;a=b',
        '/OAUTH/authorize',
        '/oauth/authorize%00',
        '/oauth%2fauthorize',
      ],
      ...['/oauth/authorize%20', '/oauth/authorize.html', '\\oauth\\authorize'],
    ]) {
      const headers = Object.entries({ Host: 'a', ...asImage, ...cookies(), Connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const text = await (
        await raw(`GET ${path}${stand.authorize().search} HTTP/1.1\r\n${headers.join('')}\r\n`)
      ).closed();
      expect([400, 401, 403, 404]).toContain(statusesIn(text)[0]);
      expect(text).not.toMatch(/^(?:location|set-cookie):/im);
    }
  });

  test('B-22 attempt 105: whatever Accept says, a browser gets a page and a program gets JSON', async () => {
    for (const accept of [
      'application/json',
      'text/html;q=0',
      '*/*;q=0',
      'image/*',
      'text/html, image/gif, *; q=.2',
      ',,;;==',
    ]) {
      const page = await browser.open(stand.authorize({ prompt: 'login' }), { ...NAVIGATION, Accept: accept });
      expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8' });
    }
    const program = await send(stand.logout(), { headers: { Accept: 'text/html', Authorization: 'Bearer x' } });
    expect(program.headers['content-type']).toBe('application/json');
  });
});

describe('parameters that another parser reads otherwise', () => {
  const open = (query: string) => new Browser().open(stand.at(`/oauth/authorize?${query}`));

  test('B-01 B-14 attempt 106: bytes that are no UTF-8, overlong forms, surrogates, broken escapes', async () => {
    const good = stand.authorize({ state: undefined }).search.slice(1);
    for (const value of ['%ff', '%c0%ae', '%ed%a0%80', '%u0041', '%', '%4', '%zz', '%f8%88%80%80%80'])
      for (const query of [`${good}&state=${value}`, `${good}&${value}=x`]) {
        const page = await open(query);
        expect([page.status, page.headers['location']]).toEqual([400, undefined]);
      }
  });

  test('B-01 attempt 107: 65 parameters, 16 KiB of them, names of an object', async () => {
    const good = stand.authorize().search.slice(1);
    const many = Array.from({ length: 65 }, (_, at) => `p${at}=x`).join('&');
    expect((await open(`${good}&${many}`)).status).toBe(400);
    expect((await open(`${good}&${'&'.repeat(100)}`)).status).toBe(400);
    expect((await open(`${good}&x=${'a'.repeat(17_000)}`)).status).toBe(431);
    const page = await open(`${good}&__proto__=x&constructor=x&toString=x&hasOwnProperty=x`);
    expect([page.status, page.text.includes('<strong>web</strong>')]).toEqual([200, true]);
  });

  test('B-14 attempt 108: long values of every parameter are answered, and none by a failure', async () => {
    const long = [
      'a'.repeat(12_000),
      ' '.repeat(12_000),
      '-'.repeat(12_000),
      `${'a-'.repeat(6_000)}!`,
      'ß'.repeat(2_000),
    ];
    const names = [
      'scope',
      'prompt',
      'state',
      'nonce',
      'code_challenge',
      'max_age',
      'login_hint',
      'ui_locales',
      'id_token_hint',
    ];
    for (const value of long)
      for (const name of names) {
        const { status } = await new Browser().open(stand.authorize({ code_challenge_method: 'S256', [name]: value }));
        expect([200, 303, 431]).toContain(status);
      }
    for (const value of [...long.slice(0, 4), ','.repeat(12_000), 'a;'.repeat(6_000), 'zh-'.repeat(4_000)])
      expect((await new Browser().open(stand.authorize(), { ...NAVIGATION, 'Accept-Language': value })).status).toBe(
        200,
      );
  });
});

describe('a second request inside the first', () => {
  const head = (method: string, path: string, more: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n${more}\r\n`;
  const inner = () => `GET ${target()} HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n`;

  test.each([
    [
      'a length and chunks',
      (body: string) => `Content-Length: ${body.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${body}`,
    ],
    ['two lengths', (body: string) => `Content-Length: 0\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
    ['chunks in capitals with a blank', (body: string) => `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${body}`],
    ['an unknown coding', (body: string) => `Transfer-Encoding: xchunked\r\n\r\n${body}`],
  ])('N-54 attempt 109: by %s: it is refused, and the connection closed', async (_, framed) => {
    for (const path of ['/oauth/authorize', ...FORMS]) {
      const text = await (await raw(head('POST', path, framed(inner())).slice(0, -2))).closed();
      expect(statusesIn(text)).toEqual([400]);
    }
  });

  test('N-54 attempt 110: in the body of a GET: it is not answered', async () => {
    const body = inner();
    const connection = await raw(
      `${head('GET', target(), `Connection: close\r\nContent-Length: ${body.length}\r\n`)}${body}`,
    );
    expect(statusesIn(await connection.closed())).toEqual([200]);
  });

  test('N-53 attempt 111: with two hosts, another host in absolute form, or a host that is none', async () => {
    for (const text of [
      `GET ${target()} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
      `GET http://evil.example${target()} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET ${target()} HTTP/1.1\r\nHost: a/b\r\n\r\n`,
      `GET ${target()} HTTP/1.1\r\n\r\n`,
    ])
      expect(statusesIn(await (await raw(text)).until(/\r\n\r\n/))[0]).toBe(400);
  });
});

test('N-52 attempt 112: forms that never end take no seat from a person who signs in', async () => {
  const head = `Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 20000\r\n`;
  const path = (at: number) => FORMS[at % FORMS.length];
  await Promise.all(Array.from({ length: 100 }, (_, at) => raw(`POST ${path(at)} HTTP/1.1\r\n${head}\r\nrequest=a`)));
  const answer = await stand.signIn(new Browser());
  expect(answer.headers['location']).toContain('code=');
});

test('B-25 attempt 113: no forwarded address gives an attacker a budget of guesses of their own', async () => {
  const throttled = await startAttackStand();
  try {
    const statuses = [];
    for (let guess = 0; guess < 6; guess++) {
      const attacker = new Browser();
      const headers = {
        ...OWN_FORM,
        'X-Forwarded-For': `192.0.2.${guess}`,
        Forwarded: `for=192.0.2.${guess}`,
        Origin: 'null',
      };
      const page = await attacker.open(throttled.authorize());
      statuses.push((await attacker.submit(page, { username: 'ada', password: 'wrong' }, headers)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    const page = await new Browser().open(throttled.authorize({ redirect_uri: EVIL }));
    expect(page.status).toBe(400);
    expect((await throttled.signIn(new Browser(), throttled.authorize(), 'joe')).status).toBe(303);
  } finally {
    await throttled.stop();
  }
});
