import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, FORM, NAVIGATION, send } from '../../../support/browser.ts';
import {
  APP,
  type AttackStand,
  BYE,
  codeOf,
  EVIL,
  PKCE,
  placeOf,
  RIVAL,
  returned,
  STAYS,
  startAttackStand,
} from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
beforeAll(async () => {
  stand = await startAttackStand();
});
afterAll(() => stand.stop());

const open = (change: Record<string, string | undefined>) => new Browser().open(stand.authorize(change));

describe('nobody is sent to an address that is not registered', () => {
  test.each([
    ['another site', `${EVIL}/callback`],
    ['a longer host', 'https://app.example.com.evil.example/callback'],
    ['a name before the host', 'https://app.example.com@evil.example/callback'],
    ['a name that reads like the host', 'https://evil.example\\@app.example.com/callback'],
    ['a longer path', `${APP}/../../evil`],
    ['an escaped dot segment', `${APP}/%2e%2e/evil`],
    ['a query', `${APP}?next=https://evil.example`],
    ['a fragment', `${APP}#evil`],
    ['a trailing slash', `${APP}/`],
    ['capitals in the host', 'https://APP.example.com/callback'],
    ['capitals in the scheme', 'HTTPS://app.example.com/callback'],
    ['the default port', 'https://app.example.com:443/callback'],
    ['another scheme', 'http://app.example.com/callback'],
    ['no scheme', '//app.example.com/callback'],
    ['a script', 'javascript:alert(1)//https://app.example.com/callback'],
    ['a blank in front', ` ${APP}`],
    ['a tab inside', 'https://app.example.com/call\tback'],
    ['a line break behind', `${APP}\r\nSet-Cookie: a=b`],
    ['a NUL behind', `${APP}\0`],
    ['a full-width letter, which NFKC makes equal', 'https://app.example.com/\uff43allback'],
    ['a dot of another script', 'https://app\u3002example.com/callback'],
    ['the address of another client', RIVAL],
  ])('B-03 attempt 1: with %s', async (_, redirect_uri) => {
    const page = await open({ redirect_uri });
    expect(placeOf(page)).toEqual(STAYS);
    expect(page.text).not.toContain('evil');
  });

  test.each([
    ['a port with a name behind it', 'http://127.0.0.1:80@evil.example/callback'],
    ['a longer host', 'http://127.0.0.1.evil.example/callback'],
    ['a number as the host', 'http://2130706433:1/callback'],
    ['a short form of the host', 'http://127.1:1/callback'],
    ['another loopback host', 'http://localhost:1/callback'],
    ['IPv4 in IPv6', 'http://[::ffff:127.0.0.1]:1/callback'],
    ['another path', 'http://127.0.0.1:1/other'],
    ['a query', 'http://127.0.0.1:1/callback?a'],
    ['a port above the highest', 'http://127.0.0.1:65536/callback'],
    ['a port of six digits', 'http://127.0.0.1:000080/callback'],
    ['https', 'https://127.0.0.1:1/callback'],
    ['a longer private scheme', 'com.example.cli.evil:/done'],
    ['a host behind a private scheme', 'com.example.cli://evil.example/done'],
    ['capitals in a private scheme', 'COM.example.cli:/done'],
  ])('B-03 attempt 2: as a native app, with %s', async (_, redirect_uri) => {
    expect(placeOf(await open({ client_id: 'cli', redirect_uri, ...PKCE }))).toEqual(STAYS);
  });

  test('B-03 attempt 3: by leaving the address out of an OpenID Connect request', async () => {
    expect(placeOf(await open({ redirect_uri: undefined }))).toEqual(STAYS);
  });

  test.each(['redirect_uri', 'client_id'])(
    'B-01 attempt 4: by a second %s, in either order and case of escapes',
    async (name) => {
      const first = stand.authorize();
      for (const again of [`&${name}=x`, `&${name}=`, `&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=x`])
        expect(placeOf(await new Browser().open(new URL(first.href + again)))).toEqual(STAYS);
      expect(placeOf(await new Browser().open(new URL(first.href.replace('?', `?${name}=x&`))))).toEqual(STAYS);
    },
  );

  test('B-03 attempt 5: by the name of a parameter that another parser reads alike', async () => {
    for (const name of ['redirect_uri[]', 'redirect_uri ', 'REDIRECT_URI', 'redirect_uri%00', 'redirect.uri']) {
      const url = new URL(`${stand.authorize({ redirect_uri: undefined }).href}&${name}=${EVIL}`);
      const page = await new Browser().open(url);
      expect([page.headers['location'], page.text.includes('evil')]).toEqual([undefined, false]);
    }
    const separated = new URL(stand.authorize().href.replace('?', `?a=b;redirect_uri=${EVIL}&`));
    expect(returned(await stand.signIn(new Browser(), separated))).toHaveProperty('code');
  });

  test('B-02 attempt 6: by a client that has another use, or whose name is written in another way', async () => {
    for (const client_id of ['gatehouse', 'WEB', 'web ', '\uff57eb', 'web\u0301', '__proto__', 'constructor'])
      expect(placeOf(await open({ client_id }))).toEqual(STAYS);
  });

  test('B-03 attempt 7: by an error of the client, which goes to the registered address alone', async () => {
    for (const change of [
      { response_type: 'token' },
      { scope: undefined, prompt: 'none login' },
      { request_uri: EVIL },
    ]) {
      const page = await open(change);
      expect(page.headers['location']).toMatch(/^https:\/\/app\.example\.com\/callback\?error=/);
    }
  });
});

describe('nothing that is sent becomes part of an answer', () => {
  const SPLIT = 'x\r\nSet-Cookie: a=b\r\n\r\n<script>alert(1)</script>';

  test('B-14 attempt 8: as a header, by a state or a nonce', async () => {
    for (const change of [{ state: SPLIT }, { nonce: SPLIT }, { state: '\u0085' }, { state: '\0' }]) {
      const answer = await open(change);
      expect(returned(answer)).toMatchObject({ error: 'invalid_request' });
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
  });

  test('B-15 attempt 9: as a parameter, by a state with separators', async () => {
    const state = '&code=evil&iss=https://evil.example#evil%26?=+ \u2028é';
    const answer = await stand.signIn(new Browser(), stand.authorize({ state }));
    expect(returned(answer)).toEqual({ code: expect.stringMatching(/\./), state, iss: stand.issuer });
    expect(answer.headers['location']).toMatch(/^[\x21-\x7e]+$/);
  });

  test('B-22 attempt 10: as markup, by any parameter, on any page', async () => {
    const markup = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}\${7*7}`;
    for (const change of [
      ...['login_hint', 'ui_locales', 'state', 'nonce', 'scope', 'id_token_hint', 'display', 'acr_values'].map(
        (name) => ({
          [name]: markup,
        }),
      ),
      { state: markup, response_mode: 'form_post', prompt: 'none' },
      { client_id: markup },
      { redirect_uri: markup },
    ]) {
      const page = await open(change);
      expect(page.text).not.toMatch(/<script|<img|onerror=alert\(1\)>|"'>/);
      expect(page.headers['content-security-policy']).toMatch(/^default-src 'none';/);
    }
  });

  test('B-05 attempt 11: as markup or a further field, by the form that goes back to the client', async () => {
    const state = `"><input name="code" value="evil"><script>alert(1)</script>`;
    const page = await stand.signIn(new Browser(), stand.authorize({ state, response_mode: 'form_post' }));
    expect(page.status).toBe(200);
    expect([...page.text.matchAll(/<input type="hidden" name="(\w+)"/g)].map(([, name]) => name)).toEqual([
      ...['code', 'state', 'iss'],
    ]);
    expect(page.text.match(/<(?:input|script)/g)).toHaveLength(3);
  });

  test('B-16 attempt 12: as a header, by a form that comes again as an address', async () => {
    for (const body of [
      'state=x\r\nSet-Cookie:a=b',
      'state=x\nLocation:/evil',
      'state=<x>',
      'state=\u00e9',
      'a b',
      '#a',
      '\\',
    ]) {
      const answer = await send(stand.at('/oauth/authorize'), {
        method: 'POST',
        body,
        headers: { ...FORM, ...NAVIGATION },
      });
      expect([answer.status, answer.headers['location'], answer.headers['set-cookie']]).toEqual([
        400,
        undefined,
        undefined,
      ]);
    }
    const far = { method: 'POST', body: '//evil.example/?a=b', headers: { ...FORM, ...NAVIGATION } } as const;
    expect((await send(stand.at('/oauth/authorize'), far)).headers['location']).toMatch(/^\/oauth\/authorize\?/);
  });

  test('B-22 attempt 13: by a language, which is one of ours', async () => {
    const evil = 'en"><script>, x\u00e9, *;q=9, zh;q=0';
    const page = await new Browser().open(stand.authorize({ ui_locales: '__proto__ constructor' }), {
      ...NAVIGATION,
      'Accept-Language': evil,
    });
    expect([page.headers['content-language'], page.text.includes('<script')]).toEqual(['en', false]);
  });
});

describe('after a sign-out nobody is sent elsewhere', () => {
  test.each([
    ['another site', { client_id: 'web', post_logout_redirect_uri: EVIL }],
    ['no client', { post_logout_redirect_uri: BYE }],
    ['a client without such addresses', { client_id: 'rival', post_logout_redirect_uri: BYE }],
    ['the address for codes', { client_id: 'web', post_logout_redirect_uri: APP }],
    ['a longer path', { client_id: 'web', post_logout_redirect_uri: `${BYE}/../evil` }],
    ['a script', { client_id: 'web', post_logout_redirect_uri: 'javascript:alert(1)' }],
  ])('B-52 attempt 14: by %s', async (_, asked) => {
    const page = await new Browser().open(stand.logout(asked as Record<string, string>));
    expect(placeOf(page)).toEqual({ status: 200, location: undefined });
    const browser = new Browser();
    await stand.signIn(browser);
    const question = await browser.open(stand.logout(asked as Record<string, string>));
    expect(placeOf(await browser.submit(question, {}))).toEqual({ status: 200, location: undefined });
  });

  test('B-52 attempt 15: by a state that adds to the address', async () => {
    const state = '&x=1#\r\nSet-Cookie: a=b';
    const asked = { client_id: 'web', post_logout_redirect_uri: BYE, state };
    const answer = await new Browser().open(stand.logout(asked));
    expect(answer.headers['location']).toBe(`${BYE}?state=${encodeURIComponent(state)}`);
  });

  test('B-52 attempt 16: by the form of the page, with another target beside the sealed one', async () => {
    const browser = new Browser();
    await stand.signIn(browser);
    const page = await browser.open(stand.logout());
    const left = await browser.submit(page, { post_logout_redirect_uri: EVIL, target: EVIL, redirectURI: EVIL });
    expect(placeOf(left)).toEqual({ status: 200, location: undefined });
  });
});

describe('no answer is taken for that of another server', () => {
  test('B-15 attempt 17: a mix-up: each answer, good or bad, names its issuer', async () => {
    const good = await stand.signIn(new Browser());
    const refused = await open({ prompt: 'none' });
    for (const answer of [good, refused]) expect(returned(answer)['iss']).toBe(stand.issuer);
    const named = await open({ iss: EVIL, prompt: 'none' });
    expect(returned(named)['iss']).toBe(stand.issuer);
  });

  test('B-15 attempt 18: a Host or forwarded header changes no address', async () => {
    const headers = {
      ...NAVIGATION,
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    };
    const browser = new Browser();
    const page = await browser.open(stand.authorize(), { ...headers, 'X-Forwarded-Proto': 'javascript' });
    expect([page.status, JSON.stringify(page).includes('evil')]).toEqual([200, false]);
    const again = await browser.open(stand.authorize({ prompt: 'none' }), headers);
    expect(returned(again)['iss']).toBe(stand.issuer);
  });

  test('B-40 attempt 19: a code goes to the address of its request, after a form as after an address', async () => {
    const answer = await stand.signIn(new Browser(), stand.authorize({ client_id: 'rival', redirect_uri: RIVAL }));
    expect(answer.headers['location']?.startsWith(`${RIVAL}?code=`)).toBe(true);
    expect((await stand.redeem(codeOf(answer), { redirect_uri: RIVAL })).status).toBe(400); // at another client
  });
});
