import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, NAVIGATION, OWN_FORM, send } from '../../../support/browser.ts';
import { passwordOf } from '../stand.ts';
import { APP, type AttackStand, BROWSER, EVIL, post, SESSION, sealedIn, startAttackStand } from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
let secure: AttackStand;
beforeAll(async () => {
  stand = await startAttackStand();
  secure = await startAttackStand({ issuer: 'https://gatehouse.example.com/oauth' }); // TLS ends in front of it
});
afterAll(() => Promise.all([stand.stop(), secure.stop()]));

const ADA = { username: 'ada', password: passwordOf('ada') };

describe('a page of another site cannot act in the browser of a person', () => {
  const FOREIGN = [
    ['a form of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a form of a neighbour', { 'Sec-Fetch-Site': 'same-site' }],
    ['a form that nobody opened', { 'Sec-Fetch-Site': 'none' }],
    ['a script', { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' }],
    ['a script that cannot read the answer', { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'empty' }],
    ['a form in a plug-in', { 'Sec-Fetch-Dest': 'object' }],
    ['another origin', { Origin: EVIL }],
    ['an origin with our host in its path', { Origin: 'https://evil.example/127.0.0.1' }],
    ['our host at another port', { Origin: 'http://127.0.0.1:1' }],
    ['two origins', { Origin: ['null', EVIL] }],
    ['two words of a header', { 'Sec-Fetch-Site': 'same-origin, cross-site' }],
    ['a word in capitals', { 'Sec-Fetch-Site': 'SAME-ORIGIN' }],
  ] as const;

  test.each(FOREIGN)('B-24 attempt 20: by %s', async (_, change) => {
    const browser = new Browser();
    await stand.signIn(browser);
    const cookies = { Cookie: `${BROWSER}=${browser.cookie(BROWSER)}; ${SESSION}=${browser.cookie(SESSION)}` };
    const page = await browser.open(stand.authorize({ prompt: 'login' }));
    const headers = { ...OWN_FORM, ...cookies, ...change } as Record<string, string>;
    for (const path of ['sign-in', 'consent', 'new-password', 'sign-out']) {
      const answer = await post(stand.at(`/oauth/${path}`), { request: sealedIn(page), ...ADA }, headers);
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    }
  });

  test('B-24 attempt 21: by a form of ours that belongs to the browser of the attacker (login CSRF)', async () => {
    const page = await new Browser().open(stand.authorize());
    const victim = new Browser();
    await victim.open(stand.authorize());
    for (const cookie of [`${BROWSER}=${victim.cookie(BROWSER)}`, '']) {
      const answer = await post(page.url, {}, {}).then(() =>
        post(stand.at('/oauth/sign-in'), { request: sealedIn(page), ...ADA }, { ...OWN_FORM, Cookie: cookie }),
      );
      expect([answer.status, answer.headers['set-cookie']]).toEqual([400, undefined]);
    }
  });

  test('B-17 attempt 22: by the consent page of the attacker, or one that another person left', async () => {
    const attacker = new Browser();
    const page = await stand.signIn(attacker, stand.authorize({ client_id: 'asking' }), 'joe');
    const victim = new Browser();
    await stand.signIn(victim);
    const cookies = (browser: string | undefined) => `${BROWSER}=${browser}; ${SESSION}=${victim.cookie(SESSION)}`;
    const form = { request: sealedIn(page), decision: 'allow' };
    const consent = (cookie: string) => post(stand.at('/oauth/consent'), form, { ...OWN_FORM, Cookie: cookie });
    expect((await consent(cookies(victim.cookie(BROWSER)))).status).toBe(400);
    const left = await consent(cookies(attacker.cookie(BROWSER)));
    expect(left.headers['location']).toMatch(/^\/oauth\/authorize\?/); // asked anew
  });

  test('B-51 attempt 23: by sending the browser to the sign-out', async () => {
    const { browser, tokens } = await stand.signedIn();
    const other = await stand.signedIn('joe');
    for (const id_token_hint of ['', other.tokens.id_token, tokens.access_token])
      expect((await browser.open(stand.logout({ id_token_hint, all: 'true' }))).text).toContain('<form');
    for (const mode of ['no-cors', 'cors', 'websocket', 'nested-navigate'])
      await browser.open(stand.logout(), { 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': 'image', Accept: 'text/html' });
    expect(await stand.list(tokens.access_token)).toBe(200);
  });

  test('B-23 attempt 24: in a frame, as an image, a script or a plug-in', async () => {
    const browser = new Browser();
    await stand.signIn(browser);
    for (const target of ['image', 'script', 'embed', 'object', 'style', 'empty', 'worker', 'video'])
      for (const mode of ['no-cors', 'navigate']) {
        const answer = await browser.open(stand.authorize(), { 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': target });
        expect([answer.status, answer.headers['location']]).toEqual([403, undefined]);
      }
    const pages = [
      await browser.open(stand.authorize({ prompt: 'login' }), { ...NAVIGATION, 'Sec-Fetch-Dest': 'iframe' }),
      await browser.open(stand.authorize({ client_id: 'asking' })),
      await browser.open(stand.authorize({ client_id: 'nobody' })),
      await browser.open(stand.logout()),
      await browser.open(stand.authorize({ response_mode: 'form_post' })),
    ];
    for (const { headers } of pages) {
      expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'$/);
      expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store' });
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
    }
  });

  test('B-24 attempt 25: by a script of a listed origin: no answer lets it send cookies', async () => {
    for (const path of ['/oauth/authorize', '/oauth/sign-in', '/oauth/consent', '/oauth/logout']) {
      const headers = { Origin: EVIL, 'Access-Control-Request-Method': 'POST' };
      const { headers: given } = await send(stand.at(path), { headers });
      expect(Object.keys(given).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('a cookie of somebody else does not count', () => {
  /** Of a neighbour's domain, as a browser sends it beside ours, or in its place. */
  const value = (stand: AttackStand, name: string, browser: Browser) =>
    browser.cookie(stand === secure ? `__Host-${name}` : name) ?? '';

  async function silent(cookie: string, of = secure): Promise<boolean> {
    const headers = { ...NAVIGATION, Cookie: cookie };
    return (await send(of.authorize({ prompt: 'none' }), { headers })).headers['location']?.includes('code=') ?? false;
  }

  /** A cookie by which Ada is signed in. */
  async function attackers(of = secure): Promise<string> {
    const browser = new Browser();
    await of.signIn(browser);
    return value(of, SESSION, browser);
  }

  test('B-27 attempt 26: without the prefix, in capitals, or with another prefix', async () => {
    const session = await attackers();
    expect(await silent(`__Host-${SESSION}=${session}`)).toBe(true);
    for (const name of [
      SESSION,
      `__Secure-${SESSION}`,
      `__HOST-${SESSION}`,
      `__Host-${SESSION.toUpperCase()}`,
      `$__Host-${SESSION}`,
    ])
      expect(await silent(`${name}=${session}`)).toBe(false);
  });

  test.each([
    ['a blank that is no ASCII, which browsers let any neighbour set', '\u00a0'],
    ['such a blank in UTF-8', '\u00c2\u00a0'],
    ['a wide blank in UTF-8', '\u00e2\u0080\u0080'],
    ['a byte order mark in UTF-8', '\u00ef\u00bb\u00bf'],
    ['a next line', '\u0085'],
    ['an equals sign, for a cookie without a name', '='],
    ['a quotation mark', '"'],
    ['the version of an old format', '$Version=1; $Path=/,'],
    ['a comma', 'a=b,'],
  ])('B-27 attempt 27: with %s before its name', async (_, before) => {
    const session = await attackers();
    expect(await silent(`${before}__Host-${SESSION}=${session}`)).toBe(false);
    expect(await silent(`a=b; ${before}__Host-${SESSION}=${session}`)).toBe(false);
  });

  test('B-27 attempt 28: beside ours (cookie tossing): neither counts', async () => {
    const [ours, theirs] = [await attackers(stand), await attackers(stand)];
    expect(await silent(`${SESSION}=${ours}; ${SESSION}=${theirs}`, stand)).toBe(false);
    expect(await silent(`${SESSION}=${ours}; ${SESSION}=`, stand)).toBe(false);
    expect(await silent(`${SESSION}=${ours}; ${SESSION} =${theirs}`, stand)).toBe(true);
  });

  test('B-27 attempt 29: in another shape: quoted, cut, longer, escaped, of 16 KiB, as a thousand pairs', async () => {
    const ours = await attackers(stand);
    const shapes = [`"${ours}"`, ours.slice(0, -1), `${ours}a`, `${ours}.`, `${ours} `, ours.replaceAll('.', '%2E')];
    for (const shape of [...shapes.slice(0, 4), shapes[5], ours.repeat(4), `${ours}\u00e9`])
      expect(await silent(`${SESSION}=${shape}`, stand)).toBe(false);
    expect(await silent(`${'a=b;'.repeat(2_000)}${SESSION}=${ours}`, stand)).toBe(true);
    const { status } = await send(stand.authorize(), { headers: { ...NAVIGATION, Cookie: 'a'.repeat(17_000) } });
    expect(status).toBe(431);
  });

  test('B-24 attempt 30: a fixed value of the page cookie that we could not have set', async () => {
    for (const fixed of ['evil', 'a'.repeat(23), 'a'.repeat(21), '', 'a=b; c', '../../../../../../../.'])
      for (const pair of [`${BROWSER}=${fixed}`, `${BROWSER}=${fixed}; ${BROWSER}=${fixed}`]) {
        const page = await send(stand.authorize(), { headers: { ...NAVIGATION, Cookie: pair } });
        expect(page.headers['set-cookie']).toMatch(/^gatehouse-browser=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax$/);
      }
  });

  test('B-27 attempt 31: cookies over https are for this host alone, for no script, and for no other site', async () => {
    const browser = new Browser();
    const page = await browser.open(secure.authorize());
    const answer = await browser.submit(page, ADA);
    for (const cookie of [page.headers['set-cookie'], answer.headers['set-cookie']])
      expect([cookie].flat()).toEqual([
        expect.stringMatching(/^__Host-gatehouse-\w+=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
      ]);
  });

  test('B-27 attempt 32: a session that was there before the password (fixation) is not the one after it', async () => {
    const fixed = await attackers(stand);
    const victim = new Browser();
    const page = await victim.open(stand.authorize(), { ...NAVIGATION, Cookie: `${SESSION}=${fixed}` });
    expect(page.headers['location']).toMatch(APP); // the victim acts as the attacker's user until there is a password
    const again = await victim.open(stand.authorize({ prompt: 'login' }));
    await victim.submit(again, { username: 'joe', password: passwordOf('joe') });
    const silently = await send(stand.authorize({ prompt: 'none' }), {
      headers: { ...NAVIGATION, Cookie: `${SESSION}=${fixed}` },
    });
    const code = new URL(silently.headers['location'] ?? '').searchParams.get('code') ?? '';
    const { body } = await stand.redeem(code);
    const { sub } = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    expect(sub).toBe('ada');
  });
});
