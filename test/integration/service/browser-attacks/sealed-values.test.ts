import { createPublicKey } from 'node:crypto';
import { CompactEncrypt, EncryptJWT, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, NAVIGATION, OWN_FORM, send } from '../../../support/browser.ts';
import { type AttackStand, BROWSER, codeOf, post, SESSION, sealedIn, startAttackStand } from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
/** One of each kind of value that leaves Gatehouse, and a browser of the person. */
let values: Record<string, string>;
let browser: Browser;
beforeAll(async () => {
  stand = await startAttackStand();
  const signedIn = await stand.signedIn();
  browser = signedIn.browser;
  values = {
    'the request of a sign-in page': sealedIn(await browser.open(stand.authorize({ prompt: 'login' }))),
    'the request of a consent page': sealedIn(await browser.open(stand.authorize({ client_id: 'asking' }))),
    'the request of a sign-out page': sealedIn(await browser.open(stand.logout())),
    'the session of a browser': browser.cookie(SESSION) ?? '',
    'the cookie of a page': browser.cookie(BROWSER) ?? '',
    'a code': codeOf(await browser.open(stand.authorize())),
    'an ID token': signedIn.tokens.id_token,
    'an access token': signedIn.tokens.access_token,
    'a refresh token': signedIn.tokens.refresh_token,
  };
});
afterAll(() => stand.stop());

/** Each place that takes such a value, the one value that is right there, and whether it took this one. */
const PLACES: Readonly<Record<string, { readonly right: string; takes(value: string): Promise<boolean> }>> = {
  'the sign-in form': {
    right: 'the request of a sign-in page',
    takes: async (request) =>
      (await form('sign-in', { request, username: '', password: '' })).text.includes('password'),
  },
  'the form of a new password': {
    right: 'none of them',
    takes: async (request) =>
      (await form('new-password', { request, password: 'a', repeated: 'b' })).text.includes('"password"'),
  },
  'the consent form': {
    right: 'the request of a consent page',
    takes: async (request) =>
      (await form('consent', { request, decision: 'deny' })).headers['location']?.includes('error=') ?? false,
  },
  'the sign-out form': {
    right: 'the request of a sign-out page',
    takes: async (request) => (await form('sign-out', { request }, '')).text.includes('cookie'), // it has no cookie
  },
  'the session cookie': { right: 'the session of a browser', takes: (cookie) => isSignedIn(`${SESSION}=${cookie}`) },
  'the page cookie': {
    right: 'the cookie of a page',
    takes: async (cookie) => {
      const request = values['the request of a sign-in page'] ?? '';
      return (await form('sign-in', { request }, `${BROWSER}=${cookie}`)).text.includes('id="password"');
    },
  },
  'the code of a token request': {
    right: 'a code',
    takes: async (code) => (await stand.redeem(code)).status === 200,
  },
  'the refresh token of a token request': {
    right: 'a refresh token',
    takes: async (refresh_token) =>
      (await stand.token({ ...WEB, grant_type: 'refresh_token', refresh_token })).status === 200,
  },
  'a bearer token': { right: 'an access token', takes: async (token) => (await stand.list(token)) === 200 },
  'an ID token as a hint': {
    right: 'an ID token',
    takes: async (id_token_hint) => {
      const page = await new Browser().open(stand.authorize({ id_token_hint }));
      return page.text.includes('name="username" value="ada"');
    },
  },
  introspection: {
    right: 'an access token',
    takes: async (token) => {
      const body = new URLSearchParams({ ...WEB, token }).toString();
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      return (await send(stand.at('/oauth/introspect'), { method: 'POST', body, headers })).text.includes(
        '"active":true',
      );
    },
  },
};

const WEB = { client_id: 'web', client_secret: 'made-up-secret-of-web' };

const cookies = () => `${BROWSER}=${browser.cookie(BROWSER)}; ${SESSION}=${browser.cookie(SESSION)}`;
const form = (path: string, fields: Record<string, string>, cookie = cookies()) =>
  post(stand.at(`/oauth/${path}`), fields, { ...OWN_FORM, ...(cookie ? { Cookie: cookie } : {}) });

async function isSignedIn(cookie: string): Promise<boolean> {
  const url = stand.authorize({ prompt: 'none' });
  const { headers } = await send(url, { headers: { ...NAVIGATION, Cookie: cookie } });
  return headers['location']?.includes('code=') ?? false;
}

/**
 * Introspection is for refresh tokens, too. The sign-in form takes the request of a consent page: it is a request on its way through a
 * page as well, and the password is asked for.
 */
const isTried = (place: string, name: string): boolean =>
  !(place === 'introspection' && name === 'a refresh token') &&
  !(place === 'the sign-in form' && name === 'the request of a consent page');

describe('a value of ours in the place of another', () => {
  test.each(Object.keys(PLACES))('B-20 B-40 attempt 40: as %s: only the right one counts', async (place) => {
    const { right, takes } = PLACES[place] as (typeof PLACES)[string];
    const taken = [];
    for (const [name, value] of Object.entries(values))
      if (isTried(place, name) && (await takes(value))) taken.push(name);
    expect(taken).toEqual(right in values ? [right] : []);
  });

  test('B-20 attempt 41: with one changed character, in any part', async () => {
    const session = values['the session of a browser'] ?? '';
    const parts = session.split('.');
    for (const at of [0, 2, 3, 4]) {
      const part = parts[at] ?? '';
      const changed = parts.with(at, `${part.slice(0, 5)}${part[5] === 'A' ? 'B' : 'A'}${part.slice(6)}`).join('.');
      expect(await isSignedIn(`${SESSION}=${changed}`)).toBe(false);
    }
    for (const wrong of [
      parts.slice(0, 4).join('.'),
      `${session}.a`,
      parts.with(1, 'AAAA').join('.'),
      parts.toReversed().join('.'),
    ])
      expect(await isSignedIn(`${SESSION}=${wrong}`)).toBe(false);
  });

  test('B-20 attempt 42: with the parts of two values joined', async () => {
    const [session, request] = [values['the session of a browser'], values['the request of a sign-in page']];
    const [head] = (session ?? '').split('.');
    const [, ...rest] = (request ?? '').split('.');
    expect(await isSignedIn(`${SESSION}=${[head, ...rest].join('.')}`)).toBe(false);
  });
});

describe('a value that an outsider makes', () => {
  const CLAIMS = {
    value: { user: 'ada', sid: 'a', authTime: 0, usedAt: 9e9, standing: '', earlier: [], consents: [] },
  };
  const TYP = 'browser-session+jwe';

  /** Our published key, with which anybody can encrypt. */
  async function published() {
    const { keys } = JSON.parse((await send(stand.at('/oauth/keys'), {})).text);
    const [jwk] = keys;
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return { kid: jwk.kid as string, key, bytes: Buffer.from(jwk.n, 'base64url').subarray(0, 32) };
  }

  async function expectRefused(value: string): Promise<void> {
    expect(await isSignedIn(`${SESSION}=${value}`)).toBe(false);
    expect((await form('sign-in', { request: value })).text).toContain('expired');
    expect((await form('consent', { request: value })).text).toContain('expired');
    expect((await form('sign-out', { request: value })).text).toContain('expired');
    expect((await stand.redeem(value)).body).toEqual({
      ...{ error: 'invalid_grant', error_description: 'the authorization code is not valid' },
    });
  }

  test.each(['RSA-OAEP', 'RSA-OAEP-256', 'RSA-OAEP-512'])(
    'B-20 attempt 43: encrypted to our public key by %s',
    async (alg) => {
      const { key, kid } = await published();
      for (const id of [kid, 'digest-key'])
        await expectRefused(
          await new EncryptJWT(CLAIMS)
            .setProtectedHeader({ alg, enc: 'A256GCM', typ: TYP, kid: id })
            .setExpirationTime('1h')
            .encrypt(key),
        );
    },
  );

  test.each(['A256GCM', 'A128CBC-HS256'])(
    'B-20 attempt 44: with a key that anybody can guess, by dir and %s',
    async (enc) => {
      const { kid, bytes } = await published();
      for (const [id, secret] of [
        ['digest-key', new Uint8Array(32)],
        [kid, bytes],
        ['', new Uint8Array(32)],
        ['__proto__', new Uint8Array(32)],
      ] as const)
        await expectRefused(
          await new EncryptJWT(CLAIMS)
            .setProtectedHeader({ alg: 'dir', enc, typ: TYP, kid: id })
            .setExpirationTime('1h')
            .encrypt(secret),
        );
    },
  );

  test('B-20 attempt 45: with a password instead of a key, whose rounds would cost seconds', async () => {
    const head = {
      alg: 'PBES2-HS512+A256KW',
      enc: 'A256GCM',
      typ: TYP,
      kid: 'digest-key',
      p2c: 1_000_000_000,
      p2s: 'AAAA',
    };
    await expectRefused(
      [Buffer.from(JSON.stringify(head)).toString('base64url'), 'AAAA', 'AAAA', 'AAAA', 'AAAA'].join('.'),
    );
  });

  test('B-20 attempt 46: with a key of its own in the header, a critical or compressed one, or a key elsewhere', async () => {
    const { kid } = await published();
    const secret = new Uint8Array(32);
    for (const more of [
      ...[{ jwk: { kty: 'oct', k: 'AAAA' } }, { jku: 'https://evil.example/keys' }, { x5u: 'https://evil.example' }],
      ...[{ kid: '../../dev/null' }, { kid: `${kid}\0` }, { kid: ['digest-key'] }],
    ]) {
      const head = { alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'digest-key', ...more } as never;
      await expectRefused(
        await new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS))).setProtectedHeader(head).encrypt(secret),
      );
    }
    for (const head of [{ zip: 'DEF' }, { crit: ['exp'], exp: 1 }, { b64: false, crit: ['b64'] }]) {
      const text = JSON.stringify({ alg: 'dir', enc: 'A256GCM', typ: TYP, kid: 'digest-key', ...head });
      await expectRefused(
        [Buffer.from(text).toString('base64url'), '', 'AAAAAAAAAAAAAAAA', 'AAAA', 'AAAAAAAAAAAAAAAAAAAAAA'].join('.'),
      );
    }
  });

  test('B-20 B-40 attempt 47: signed by nobody, or with our public key as a secret', async () => {
    const { key, kid } = await published();
    const secret = key.export({ format: 'der', type: 'spki' });
    await expectRefused(new UnsecuredJWT(CLAIMS).setExpirationTime('1h').encode());
    await expectRefused(
      await new SignJWT(CLAIMS)
        .setProtectedHeader({ alg: 'HS256', typ: TYP, kid })
        .setExpirationTime('1h')
        .sign(secret),
    );
    const claims = { iss: stand.issuer, sub: 'ada', aud: 'web', sid: 'x' };
    const forged = [
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(secret),
    ];
    for (const id_token_hint of forged) {
      const page = await new Browser().open(stand.authorize({ id_token_hint }));
      expect(page.text).not.toContain('value="ada"');
      expect((await browser.open(stand.logout({ id_token_hint }))).text).toContain('<form'); // is asked first
    }
  });

  test('B-20 attempt 48: of 16 KiB and more, of a million dots, or empty', async () => {
    for (const request of ['.'.repeat(20_000), 'a.'.repeat(10_000), `${'A'.repeat(16_000)}....`, '', '....'])
      expect((await form('sign-in', { request })).status).toBe(400);
    expect((await form('sign-in', { request: 'a'.repeat(25_000) })).status).toBe(413);
  });
});

test('B-20 B-27 B-40 attempt 49: no value tells a name, an address or a time to the browser that carries it', () => {
  for (const name of ['the session of a browser', 'the request of a sign-in page', 'a code']) {
    const [head = '', , , text = ''] = (values[name] ?? '').split('.');
    expect(Object.keys(JSON.parse(Buffer.from(head, 'base64url').toString())).sort()).toEqual([
      'alg',
      'enc',
      'kid',
      'typ',
    ]);
    expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/ada|web|callback/);
  }
});
