import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../../../support/browser.ts';
import { passwordOf } from '../stand.ts';
import {
  APP,
  type AttackStand,
  codeOf,
  PKCE,
  PROOF,
  RIVAL,
  returned,
  startAttackStand,
  usersFile,
} from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
beforeAll(async () => {
  stand = await startAttackStand();
});
afterAll(() => stand.stop());

const NOT_VALID = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'the authorization code is not valid' },
};

describe('a code in other hands', () => {
  test.each([
    ['another client', { client_id: 'rival' }],
    ['another client with its own address', { client_id: 'rival', redirect_uri: RIVAL }],
    ['a public client', { client_id: 'spa' }],
    ['another address', { redirect_uri: RIVAL }],
    ['no address', { redirect_uri: '' }],
    ['the address with a slash behind', { redirect_uri: `${APP}/` }],
    ['a verifier, although the request had no challenge', { code_verifier: PROOF.verifier }],
    ['a short verifier', { code_verifier: 'a' }],
  ])('B-43 attempt 50: is worth nothing with %s, and stays good for its client', async (_, change) => {
    const code = await stand.code();
    expect(await stand.redeem(code, change as Record<string, string>)).toEqual(NOT_VALID);
    expect((await stand.redeem(code)).status).toBe(200);
  });

  test.each([
    ['no verifier', ''],
    ['another verifier', PROOF.verifier.replace('d', 'e')],
    ['the challenge itself', PROOF.challenge],
    ['a longer verifier', `${PROOF.verifier}A`],
    ['an escaped verifier', `${PROOF.verifier}%00`],
    ['a verifier with a blank', `${PROOF.verifier} `],
    ['a verifier with a line break', `${PROOF.verifier}\n`],
    ['a verifier of other letters that look alike', PROOF.verifier.replace('d', '\uff44')],
  ])('B-43 attempt 51: is worth nothing with %s', async (_, code_verifier) => {
    const code = await stand.code(PKCE);
    expect(await stand.redeem(code, { code_verifier })).toEqual(NOT_VALID);
    expect((await stand.redeem(code, { code_verifier: PROOF.verifier })).status).toBe(200);
  });

  test('B-06 B-07 attempt 52: is not issued after a downgrade of PKCE', async () => {
    const spa = { client_id: 'spa', redirect_uri: 'https://spa.example.com/' };
    for (const change of [
      spa,
      { ...spa, code_challenge: PROOF.challenge },
      { ...spa, code_challenge: PROOF.verifier, code_challenge_method: 'plain' },
      { ...spa, ...PKCE, code_challenge_method: 's256' },
      { ...spa, ...PKCE, code_challenge: `${PROOF.challenge}=` },
      { ...spa, ...PKCE, code_challenge: `${PROOF.challenge}\n` },
      { ...spa, code_challenge_method: 'S256' },
      { code_challenge_method: 'S256' },
      { code_challenge: PROOF.challenge },
    ])
      expect(returned(await new Browser().open(stand.authorize(change)))).toMatchObject({ error: 'invalid_request' });
    const twice = new URL(`${stand.authorize({ ...spa, ...PKCE }).href}&code_challenge=`);
    expect(returned(await new Browser().open(twice))).toMatchObject({ error: 'invalid_request' });
  });

  test('B-43 attempt 53: of a challenge that an attacker has removed is refused with the verifier of the client', async () => {
    const code = await stand.code({ code_challenge: undefined });
    expect(await stand.redeem(code, { code_verifier: PROOF.verifier })).toEqual(NOT_VALID);
  });

  test('B-43 attempt 54: is worth nothing with a wrong secret, in two places, or for the password grant', async () => {
    const code = await stand.code();
    for (const client_secret of ['', 'wrong', 'made-up-secret-of-rival'])
      expect((await stand.redeem(code, { client_secret })).status).toBe(401);
    const form = { client_id: 'gatehouse', client_secret: 'made-up-secret-of-gatehouse', code };
    expect((await stand.redeem(code, form)).body).toMatchObject({ error: 'unauthorized_client' });
    for (const grant_type of ['password', 'refresh_token', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'])
      expect((await stand.redeem(code, { grant_type })).status).toBe(400);
    expect((await stand.redeem(code)).status).toBe(200);
  });
});

describe('a code again', () => {
  test('B-42 attempt 55: ends its session, and no other of the browser', async () => {
    const browser = new Browser();
    const code = codeOf(await stand.signIn(browser));
    const first = await stand.redeem(code);
    const other = await stand.redeem(codeOf(await browser.open(stand.authorize())));
    expect(await stand.redeem(code)).toEqual(NOT_VALID);
    const { access_token, refresh_token } = first.body;
    expect(await stand.list(access_token)).toBe(401);
    const form = { grant_type: 'refresh_token', client_id: 'web', client_secret: 'made-up-secret-of-web' };
    expect((await stand.token({ ...form, refresh_token })).status).toBe(400);
    expect(await stand.list(other.body.access_token)).toBe(200);
  });

  test('B-42 attempt 56: in a second spelling of base64url is the same code', async () => {
    const code = await stand.code();
    const last = code.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 16 bytes of the tag leave four bits of the last character without a meaning.
    const spelled = `${code.slice(0, -1)}${alphabet[alphabet.indexOf(last) ^ 1]}`;
    const answers = [await stand.redeem(code), await stand.redeem(spelled), await stand.redeem(`${code}=`)];
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('B-42 attempt 57: twenty times at once gives tokens once, and they end', async () => {
    const code = await stand.code();
    const answers = await Promise.all(Array.from({ length: 20 }, () => stand.redeem(code)));
    const good = answers.filter(({ status }) => status === 200);
    expect([good.length, await stand.list(good[0]?.body.access_token)]).toEqual([1, 401]);
  });

  test('B-40 B-42 attempt 58: after a minute is refused, and the session stays', async () => {
    const aging = await startAttackStand();
    try {
      const [used, unused] = [await aging.code(), await aging.code()];
      const { body } = await aging.redeem(used);
      aging.clock.shift(60_000);
      for (const code of [used, unused]) expect(await aging.redeem(code)).toEqual(NOT_VALID);
      expect(await aging.list(body.access_token)).toBe(200);
    } finally {
      await aging.stop();
    }
  });
});

describe('a code whose person has left', () => {
  test('B-41 attempt 59: is worth nothing after a sign-out, also when both come at the same time', async () => {
    const browser = new Browser();
    const { body } = await stand.redeem(codeOf(await stand.signIn(browser)));
    const code = codeOf(await browser.open(stand.authorize()));
    const [redeemed] = await Promise.all([
      stand.redeem(code),
      browser.open(stand.logout({ id_token_hint: body.id_token })),
    ]);
    expect(await stand.redeem(code)).toEqual(NOT_VALID);
    for (const token of [body.access_token, redeemed.body.access_token ?? 'none'])
      expect(await stand.list(token)).toBe(401);
  });

  test.each([
    ['another password', { joe: 'another-made-up-password' }, ['ada', 'joe']],
    ['the end of the account', {}, ['ada']],
  ] as const)(
    'B-41 attempt 60: is worth nothing after %s, nor is a page of the person',
    async (_, passwords, people) => {
      const changing = await startAttackStand();
      try {
        const { browser, tokens } = await changing.signedIn('joe');
        const code = codeOf(await browser.open(changing.authorize()));
        const consent = await browser.open(changing.authorize({ client_id: 'asking' }));
        changing.gatehouse.writeUsers(await usersFile(passwords, [...people]));
        await expect.poll(() => changing.list(tokens.access_token)).toBe(401);
        expect(await changing.redeem(code)).toEqual(NOT_VALID);
        expect((await browser.submit(consent, { decision: 'allow' })).headers['location']).toMatch(
          /^\/oauth\/authorize/,
        );
        expect(returned(await browser.open(changing.authorize({ prompt: 'none' })))).toMatchObject({
          error: 'login_required',
        });
        const page = await browser.open(changing.authorize());
        const old = await browser.submit(page, { username: 'joe', password: passwordOf('joe') });
        expect(old.status).toBe(400);
      } finally {
        await changing.stop();
      }
    },
  );
});
