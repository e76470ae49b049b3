import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser, OWN_FORM, type Page, send } from '../../../support/browser.ts';
import { quickBcrypt } from '../../../support/passwords.ts';
import { passwordOf } from '../stand.ts';
import {
  type AttackStand,
  BROWSER,
  codeOf,
  PKCE,
  PROOF,
  post,
  SESSION,
  sealedIn,
  startAttackStand,
} from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

let stand: AttackStand;
let compares = 0;
beforeAll(async () => {
  const compare: typeof quickBcrypt.compare = (password, stored) => {
    compares++;
    return quickBcrypt.compare(password, stored);
  };
  stand = await startAttackStand({}, { ...quickBcrypt, compare });
});
afterAll(() => stand.stop());

const GATEHOUSE = { client_id: 'gatehouse', client_secret: 'made-up-secret-of-gatehouse' };
const byToken = (username: string, password: string, at = stand) =>
  at.token({ grant_type: 'password', ...GATEHOUSE, username, password });

async function typed(username: string, password: string, at = stand): Promise<Page> {
  const browser = new Browser();
  return browser.submit(await browser.open(at.authorize()), { username, password });
}

describe('the page does not tell who exists', () => {
  /** Without what differs in each page. */
  const shape = ({ status, text, headers }: Page, name: string) => ({
    status,
    text: text.replaceAll(name, '').replaceAll(/name="request" value="[^"]*"/g, ''),
    headers: Object.keys(headers),
    cookies: headers['set-cookie'],
  });

  test('B-25 attempt 90: by text, length, headers, cookies, or the number of compares', async () => {
    const shapes = [];
    const counts = [];
    for (const name of ['ada', 'eva', 'a@b']) {
      const before = compares;
      shapes.push(shape(await typed(name, 'wrong'), name));
      counts.push(compares - before);
    }
    expect(new Set(shapes.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(new Set(counts)).toEqual(new Set([1]));
    const hints = ['ada', 'eva'].map(async (login_hint) =>
      shape(await new Browser().open(stand.authorize({ login_hint })), login_hint),
    );
    const [known, unknown] = await Promise.all(hints);
    expect({ ...known, cookies: '' }).toEqual({ ...unknown, cookies: '' });
  });

  test('B-25 attempt 91: by a name in another spelling, which is nobody', async () => {
    const names = [
      'ADA',
      'ada ',
      ' ada',
      'ada\0',
      'аda',
      '\uff41da',
      'ada\u200b',
      'ada@',
      'ada\u0301',
      '../ada',
      'ada\n',
      '*',
    ];
    const statuses = [];
    const throttled = await startAttackStand({});
    try {
      for (const name of names) statuses.push((await typed(name, passwordOf('ada'), throttled)).status);
    } finally {
      await throttled.stop();
    }
    expect(statuses).toEqual(names.map(() => 400));
  });

  test('B-25 attempt 92: by a password that goes on behind a NUL, or is of other letters', async () => {
    const own = passwordOf('joe');
    for (const password of [`${own}\0`, `${own}\0x`, ` ${own}`, `${own} `])
      expect((await typed('joe', password)).status).toBe(400);
    const twice = [
      ['username', 'joe'],
      ['password', own],
      ['password', own],
    ];
    const page = await new Browser().open(stand.authorize());
    const cookie = /gatehouse-browser=[^;]*/.exec(page.headers['set-cookie'] ?? '')?.[0] ?? '';
    const body = new URLSearchParams([['request', sealedIn(page)], ...twice]).toString();
    const headers = { ...OWN_FORM, Cookie: cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await send(stand.at('/oauth/sign-in'), { method: 'POST', body, headers })).status).toBe(400);
  });
});

describe('guesses have one budget', () => {
  test('B-25 attempt 93: on the page and at the token endpoint, in both orders', async () => {
    const throttled = await startAttackStand();
    try {
      for (let guess = 0; guess < 5; guess++)
        expect((await typed('ada', `wrong-${guess}`, throttled)).status).toBe(400);
      expect((await byToken('ada', passwordOf('ada'), throttled)).status).toBe(429);
      for (let guess = 0; guess < 5; guess++)
        expect((await byToken('joe', `wrong-${guess}`, throttled)).status).toBe(400);
      const page = await typed('joe', passwordOf('joe'), throttled);
      expect([page.status, Number(page.headers['retry-after']) > 0]).toEqual([429, true]);
      expect(page.headers).not.toHaveProperty('set-cookie');
    } finally {
      await throttled.stop();
    }
  });

  test('B-25 attempt 94: and many at once do not go beyond it, by one page or by many', async () => {
    const throttled = await startAttackStand();
    try {
      const browser = new Browser();
      const page = await browser.open(throttled.authorize());
      const guesses = Array.from({ length: 14 }, (_, guess) => ({ username: 'ada', password: `wrong-${guess}` }));
      const answers = await Promise.all(guesses.map((guess) => browser.submit(page, guess)));
      expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(5);
      expect((await browser.submit(page, { username: 'ada', password: passwordOf('ada') })).status).toBe(429);
    } finally {
      await throttled.stop();
    }
  });
});

test('B-44 attempt 95: no log line and no metric has a code, a cookie, a password, a sealed value, or what was typed', async () => {
  const browser = new Browser();
  const secrets = ['canary-state', 'canary-nonce', 'canary-wrong', 'canary-name', 'canary-hint', 'canary-locale'];
  const url = stand.authorize({ ...PKCE, state: 'canary-state', nonce: 'canary-nonce', login_hint: 'canary-hint' });
  const page = await browser.open(url);
  await browser.submit(page, { username: 'canary-name', password: 'canary-wrong' });
  const answer = await browser.submit(page, { username: 'ada', password: passwordOf('ada') });
  const code = codeOf(answer);
  await stand.redeem(code, { code_verifier: 'canary-wrong' });
  const { body } = await stand.redeem(code, { code_verifier: PROOF.verifier });
  await stand.redeem(code, { code_verifier: PROOF.verifier });
  const consent = await browser.open(stand.authorize({ client_id: 'asking', ui_locales: 'canary-locale' }));
  await browser.open(new URL(`${stand.authorize().href}&${code}&canary-name&x=${browser.cookie(SESSION)}`));
  const cookies = [browser.cookie(SESSION) ?? '', browser.cookie(BROWSER) ?? ''];
  await post(
    stand.at('/oauth/sign-in'),
    { request: sealedIn(page) },
    { ...OWN_FORM, Referer: url.href, Cookie: `a=${code}` },
  );
  await browser.open(stand.logout({ id_token_hint: body.id_token, state: 'canary-state' }));
  const sealed = [
    code,
    sealedIn(page),
    sealedIn(consent),
    ...cookies,
    body.id_token,
    body.access_token,
    PROOF.verifier,
  ];
  const written = JSON.stringify(stand.gatehouse.log);
  const { text: metrics } = await send(new URL(`http://127.0.0.1:${stand.gatehouse.metricsPort}/metrics`), {});
  const found = [...secrets, ...sealed, passwordOf('ada')].filter(
    (text) => written.includes(text) || metrics.includes(text),
  );
  expect([sealed.every((text) => text.length >= 22), found]).toEqual([true, []]);
});

test('B-20 attempt 96: visits, wrong passwords and refused forms write nothing; a sign-in writes once, at the redemption', async () => {
  const writes = () =>
    (['create', 'update', 'patch', 'delete'] as const)
      .map((verb) => stand.cluster.evidence.count(verb, 'secrets'))
      .reduce((sum, count) => sum + count, 0);
  const before = writes();
  const anonymous = Array.from({ length: 50 }, (_, visit) =>
    new Browser().open(stand.authorize({ state: `${visit}` })),
  );
  expect((await Promise.all(anonymous)).every(({ status }) => status === 200)).toBe(true);
  await typed('nobody', 'wrong');
  await post(stand.at('/oauth/consent'), { request: 'x' }, OWN_FORM);
  const code = await stand.code();
  expect(writes() - before).toBe(0);
  await stand.redeem(code);
  expect(writes() - before).toBe(1);
});

test('B-27 attempt 97: the same form twice at once begins two sessions, and the end of one leaves the other', async () => {
  const browser = new Browser();
  const page = await browser.open(stand.authorize());
  const ada = { username: 'ada', password: passwordOf('ada') };
  const answers = await Promise.all([browser.submit(page, ada), browser.submit(page, ada)]);
  const tokens = await Promise.all(answers.map((answer) => stand.redeem(codeOf(answer))));
  const sids = tokens.map(
    ({ body }) => JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString()).sid,
  );
  expect(new Set(sids).size).toBe(2);
  await stand.redeem(codeOf(answers[0]));
  const left = await Promise.all(tokens.map(({ body }) => stand.list(body.access_token)));
  expect(left).toEqual([401, 200]);
});
