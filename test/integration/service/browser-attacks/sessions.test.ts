import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, NAVIGATION, OWN_FORM, send } from '../../../support/browser.ts';
import { passwordOf } from '../stand.ts';
import {
  type AttackStand,
  BROWSER,
  BYE,
  codeOf,
  PKCE,
  post,
  returned,
  SESSION,
  sealedIn,
  startAttackStand,
} from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
beforeAll(async () => {
  stand = await startAttackStand();
});
afterAll(() => stand.stop());

const CLI = { client_id: 'cli', redirect_uri: 'http://127.0.0.1:9/callback', ...PKCE };
const JOE = { username: 'joe', password: passwordOf('joe') };

/** The link by which a person begins again. */
const againOf = ({ text }: { readonly text: string }): URL =>
  stand.at((/<a href="([^"]*)">/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&'));

describe('a client that wants more than a session', () => {
  test('B-11 B-12 attempt 70: is not given the session instead of a password', async () => {
    const { browser } = await stand.signedIn();
    for (const change of [
      { prompt: 'login' },
      { prompt: 'select_account' },
      { prompt: 'login consent' },
      { max_age: '0' },
      { max_age: '00' },
    ])
      expect((await browser.open(stand.authorize(change))).text).toContain('id="password"');
    for (const max_age of ['-1', '1e9', '0x10', '1.5', ' 1', '٣', '99999999999'])
      expect(returned(await browser.open(stand.authorize({ max_age })))).toMatchObject({ error: 'invalid_request' });
    for (const prompt of ['NONE', 'none login', 'create', 'login,none', 'none\tlogin'])
      expect(returned(await browser.open(stand.authorize({ prompt })))).toMatchObject({ error: 'invalid_request' });
  });

  test('B-11 B-12 attempt 71: is not given the session by a person who begins again', async () => {
    const { browser } = await stand.signedIn();
    for (const change of [{ prompt: 'login' }, { max_age: '0' }]) {
      const page = await browser.open(stand.authorize(change as Record<string, string>));
      const cookie = `${BROWSER}=AAAAAAAAAAAAAAAAAAAAAA; ${SESSION}=${browser.cookie(SESSION)}`;
      const lost = await post(
        stand.at('/oauth/sign-in'),
        { request: sealedIn(page), ...JOE },
        { ...OWN_FORM, Cookie: cookie },
      );
      expect(lost.status).toBe(400);
      expect((await browser.open(againOf(lost))).text).toContain('id="password"');
    }
  });

  test('B-13 attempt 72: is not given another person than the one whom it named', async () => {
    const { browser, tokens } = await stand.signedIn();
    const joe = await stand.signedIn('joe');
    const named = stand.authorize({ id_token_hint: joe.tokens.id_token });
    expect(
      returned(await browser.open(stand.authorize({ id_token_hint: joe.tokens.id_token, prompt: 'none' }))),
    ).toMatchObject({ error: 'login_required' });
    const page = await browser.open(named);
    const wrong = await browser.submit(page, { username: 'ada', password: passwordOf('ada') });
    expect(returned(wrong)).toMatchObject({ error: 'login_required' });
    expect(returned(wrong)).not.toHaveProperty('code');
    for (const id_token_hint of [tokens.access_token, 'x', `${tokens.id_token}x`])
      expect((await browser.open(stand.authorize({ id_token_hint }))).text).toContain('id="password"');
  });

  test('B-13 attempt 73: is not given another person by one who begins again', async () => {
    const { browser } = await stand.signedIn();
    const joe = await stand.signedIn('joe');
    const page = await browser.open(stand.authorize({ id_token_hint: joe.tokens.id_token }));
    const cookie = `${BROWSER}=AAAAAAAAAAAAAAAAAAAAAA; ${SESSION}=${browser.cookie(SESSION)}`;
    const lost = await post(
      stand.at('/oauth/sign-in'),
      { request: sealedIn(page), ...JOE },
      { ...OWN_FORM, Cookie: cookie },
    );
    expect([lost.status, lost.text.includes('<a href=')]).toEqual([400, false]);
  });

  test('B-17 attempt 74: cannot have the consent page skipped', async () => {
    const { browser } = await stand.signedIn();
    const asking = { client_id: 'asking' };
    const silent = await browser.open(stand.authorize({ ...asking, prompt: 'none' }));
    expect(returned(silent)).toMatchObject({ error: 'consent_required' });
    const page = await browser.open(stand.authorize(asking));
    for (const decision of ['', 'ALLOW', 'deny', 'allow ', 'true'])
      expect(returned(await browser.submit(page, { decision }))).toMatchObject({ error: 'access_denied' });
    const two = `request=${sealedIn(page)}&decision=deny&decision=allow`;
    const headers = { ...OWN_FORM, 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await send(stand.at('/oauth/consent'), { method: 'POST', body: two, headers })).status).toBe(400);
    await browser.submit(page, { decision: 'allow' });
    expect((await browser.open(stand.authorize(asking))).headers['location']).toContain('code=');
    for (const more of [{ scope: 'openid groups' }, { prompt: 'consent' }])
      expect((await browser.open(stand.authorize({ ...asking, ...more }))).text).toContain('Allow access?');
  });
});

describe('a session that has ended', () => {
  test('B-28 B-50 attempt 75: does not come back by a copy of the cookie', async () => {
    const { browser, tokens } = await stand.signedIn();
    const copy = browser.cookie(SESSION);
    await browser.open(stand.logout({ id_token_hint: tokens.id_token }));
    const headers = { ...NAVIGATION, Cookie: `${SESSION}=${copy}` };
    expect((await send(stand.authorize(), { headers })).status).toBe(200);
    expect(returned(await send(stand.authorize({ prompt: 'none' }), { headers }))).toMatchObject({
      error: 'login_required',
    });
  });

  test('B-53 attempt 76: has no power over the later sessions of the user', async () => {
    const thief = await stand.signedIn('joe');
    const copy = thief.browser.cookie(SESSION);
    const victim = await stand.signedIn('joe');
    await victim.browser.submit(await victim.browser.open(stand.logout()), { all: 'true' });
    const later = await stand.signedIn('joe');
    const Cookie = `${SESSION}=${copy}; ${BROWSER}=${thief.browser.cookie(BROWSER)}`;
    const page = await send(stand.logout(), { headers: { ...NAVIGATION, Cookie } });
    const answer = await post(
      stand.at('/oauth/sign-out'),
      { request: sealedIn(page), all: 'true' },
      { ...OWN_FORM, Cookie },
    );
    expect(answer.status).toBe(400);
    expect(await stand.list(thief.tokens.access_token)).toBe(401);
    expect((await later.browser.open(stand.authorize({ prompt: 'none' }))).headers['location']).toContain('code=');
  });

  test('B-29 attempt 77: goes on for nobody when another person signs in', async () => {
    const { browser } = await stand.signedIn();
    const page = await browser.open(stand.authorize({ client_id: 'asking' }));
    await stand.signIn(browser, stand.authorize({ prompt: 'select_account' }), 'joe');
    const answer = await browser.submit(page, { decision: 'allow' });
    expect(answer.headers['location']).toMatch(/^\/oauth\/authorize\?/); // the page of the earlier person
    const { body } = await stand.redeem(codeOf(await browser.open(stand.authorize())));
    expect(JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString())).toMatchObject({ sub: 'joe' });
  });

  test('B-51 B-53 attempt 78: is ended by no form of another session or browser, nor by one that says it twice', async () => {
    const { browser, tokens } = await stand.signedIn();
    const other = await stand.signedIn();
    const page = await other.browser.open(stand.logout());
    const body = { request: sealedIn(page), all: 'true' };
    for (const cookie of [
      `${SESSION}=${browser.cookie(SESSION)}; ${BROWSER}=${browser.cookie(BROWSER)}`,
      `${SESSION}=${browser.cookie(SESSION)}; ${BROWSER}=${other.browser.cookie(BROWSER)}`,
      `${BROWSER}=${other.browser.cookie(BROWSER)}`,
      `${SESSION}=${other.browser.cookie(SESSION)}`,
    ])
      expect((await post(stand.at('/oauth/sign-out'), body, { ...OWN_FORM, Cookie: cookie })).status).toBe(400);
    for (const token of [tokens, other.tokens]) expect(await stand.list(token.access_token)).toBe(200);
  });

  test('B-20 B-27 B-28 attempt 79: a page after ten minutes, and a session after its time, are refused', async () => {
    const aging = await startAttackStand();
    try {
      const { browser, tokens } = await aging.signedIn();
      const pages = [
        await browser.open(aging.authorize({ prompt: 'login' })),
        await browser.open(aging.authorize({ client_id: 'asking' })),
        await browser.open(aging.logout()),
      ];
      aging.clock.shift(600_000);
      for (const page of pages) {
        const late = await browser.submit(page, { ...JOE, decision: 'allow', all: 'true' });
        expect([late.status, late.text.includes('expired')]).toEqual([400, true]);
      }
      expect(await aging.list(tokens.access_token)).toBe(200);
      aging.clock.shift(2 * 3_600_000);
      expect(returned(await browser.open(aging.authorize({ prompt: 'none' })))).toMatchObject({
        error: 'login_required',
      });
      const { browser: busy } = await aging.signedIn();
      for (let hour = 0; hour < 11; hour++) {
        aging.clock.shift(3_600_000 + 1_000 * Number(hour > 0));
        expect((await busy.open(aging.authorize({ prompt: 'none' }))).headers['location']).toContain('code=');
      }
      aging.clock.shift(3_600_000);
      expect(returned(await busy.open(aging.authorize({ prompt: 'none' })))).toMatchObject({ error: 'login_required' });
    } finally {
      await aging.stop();
    }
  });
});

test('B-17 B-28 attempt 83: an agreement ends with its session, also where the cookie is still there', async () => {
  const { browser } = await stand.signedIn('joe');
  const asking = stand.authorize({ client_id: 'asking' });
  await browser.submit(await browser.open(asking), { decision: 'allow' });
  expect((await browser.open(asking)).headers['location']).toContain('code=');
  const elsewhere = await stand.signedIn('joe');
  await elsewhere.browser.submit(await elsewhere.browser.open(stand.logout()), { all: 'true' });
  expect((await stand.signIn(browser, asking, 'joe')).text).toContain('Allow access?');
});

describe('a program on the same machine as the browser', () => {
  test('B-17 attempt 80: does not get a code of a native client without the person', async () => {
    const { browser } = await stand.signedIn();
    const scheme = { ...CLI, redirect_uri: 'com.example.cli:/done' };
    for (const client of [CLI, scheme]) {
      expect(returned(await browser.open(stand.authorize({ ...client, prompt: 'none' })))).toMatchObject({
        error: 'consent_required',
      });
      const page = await browser.open(stand.authorize(client));
      expect([page.status, page.text.includes('Allow access?')]).toEqual([200, true]);
      expect((await browser.submit(page, { decision: 'allow' })).headers['location']).toContain('code=');
      expect((await browser.open(stand.authorize(client))).text).toContain('Allow access?');
    }
  });

  test('B-17 attempt 81: asks for no consent beside the password', async () => {
    const answer = await stand.signIn(new Browser(), stand.authorize(CLI));
    expect(answer.headers['location']).toContain('code=');
  });
});

test('B-50 attempt 82: a sign-out leads to the registered address, and the cookie of the session is gone', async () => {
  const { browser, tokens } = await stand.signedIn();
  const hint = { id_token_hint: tokens.id_token, client_id: 'rival', post_logout_redirect_uri: BYE };
  const confused = await browser.open(stand.logout(hint)); // the token is of another client
  expect([confused.status, confused.headers['location']]).toEqual([200, undefined]);
  expect(browser.cookie(SESSION)).toBeUndefined();
});
