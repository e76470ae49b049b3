import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWriteStand, UNINITIALIZED, type WriteStand } from '../../../support/accounts/write-stand.ts';
import { Browser, OWN_FORM, type Page } from '../../../support/browser.ts';
import { quickBcrypt } from '../../../support/passwords.ts';
import { APP, BROWSER, post, SESSION, sealedIn } from './attack-stand.ts';

/** The attempts of the table "Attacks on the sign-in with a browser" in docs/security.md, by their numbers. */

const FIRST = 'The-first-one-1';
const OWN = 'My-own-choice-1';
const OTHER = 'Another-choice-1';
const WEB = { name: 'web', secret: 'made-up-secret-of-web', redirectURIs: [APP] };
const GATEHOUSE = { name: 'gatehouse', secret: 'gatehouse' };

let stand: WriteStand;
let users = 0;
beforeAll(async () => {
  const config = { authentication: { oauthOptions: { clients: [GATEHOUSE, WEB] } } };
  stand = await startWriteStand({ bcrypt: quickBcrypt, config });
});
afterAll(() => stand.stop());

const at = (path: string) => new URL(path, `http://127.0.0.1:${stand.gatehouse.port}`);
const AUTHORIZE = '/oauth/authorize?client_id=web&response_type=code';

/** A new user with a first password, and the page that asks for another one. */
async function start() {
  users++;
  const name = `ivy${users}`;
  await stand.made(name, { spec: { password: FIRST }, annotations: { [UNINITIALIZED]: 'true' } });
  const browser = new Browser();
  const page = await browser.submit(await browser.open(at(AUTHORIZE)), { username: name, password: FIRST });
  expect([page.text.includes('Choose your own password'), browser.cookie(SESSION)]).toEqual([true, undefined]);
  return { name, browser, page };
}

const choose = (browser: Browser, page: Page, password: string) =>
  browser.submit(page, { password, repeated: password });
const isAgain = ({ headers }: Page) => headers['location']?.startsWith('/oauth/authorize?') ?? false;

describe('the page for an own password', () => {
  test('B-26 attempt 120: twice at once: one password counts, and the other form begins again', async () => {
    const { name, browser, page } = await start();
    const answers = await Promise.all([choose(browser, page, OWN), choose(browser, page, OTHER)]);
    const isDone = answers.map(({ headers }) => headers['location']?.startsWith(`${APP}?code=`) ?? false);
    expect(isDone.filter((done) => done)).toHaveLength(1);
    expect(isAgain(answers[isDone.indexOf(false)] as Page)).toBe(true);
    const signIns = [await stand.signIn(name, OWN), await stand.signIn(name, OTHER), await stand.signIn(name, FIRST)];
    expect(signIns.map(({ status }) => status)).toEqual([isDone[0] ? 200 : 400, isDone[1] ? 200 : 400, 400]);
  });

  test('B-26 attempt 121: in another browser, without its cookie, or of another site: nothing changes', async () => {
    const { name, browser, page } = await start();
    const thief = new Browser();
    await thief.open(at(AUTHORIZE));
    const fields = { request: sealedIn(page), password: OWN, repeated: OWN };
    const own = { ...OWN_FORM, Cookie: `${BROWSER}=${browser.cookie(BROWSER)}` };
    for (const [status, headers] of [
      [400, { ...own, Cookie: `${BROWSER}=${thief.cookie(BROWSER)}` }],
      [400, { ...own, Cookie: '' }],
      [403, { ...own, 'Sec-Fetch-Site': 'cross-site' }],
      [403, { ...own, Origin: 'https://evil.example' }],
    ] as const)
      expect((await post(at('/oauth/new-password'), fields, headers)).status).toBe(status);
    expect((await stand.signIn(name, FIRST)).status).toBe(200);
  });

  test('B-26 attempt 122: for another user, by a field beside the sealed name', async () => {
    const { name, browser, page } = await start();
    const fields = { password: OWN, repeated: OWN, username: 'admin', user: 'admin', signedIn: 'admin' };
    await browser.submit(page, fields);
    expect((await stand.signIn(name, OWN)).status).toBe(200);
    expect((await stand.signIn('admin', OWN)).status).toBe(400);
  });

  test('B-26 attempt 123: again, after another change, or of a user who is gone: begins again', async () => {
    const { browser, page } = await start();
    await choose(browser, page, OWN);
    expect(isAgain(await choose(browser, page, OTHER))).toBe(true);
    const gone = await start();
    await stand.ask('DELETE', `/kapis/iam.gatehouse.io/v1alpha2/users/${gone.name}`);
    expect(isAgain(await choose(gone.browser, gone.page, OWN))).toBe(true);
    const disabled = await start();
    await stand.update(disabled.name, (user) => ({ ...user, status: { ...user.status, state: 'Disabled' } }));
    const answer = await choose(disabled.browser, disabled.page, OWN);
    expect([isAgain(answer), disabled.browser.cookie(SESSION)]).toEqual([true, undefined]);
  });

  test('B-26 attempt 124: its sealed value is no session, no request of another page, and no code', async () => {
    const { browser, page } = await start();
    const cookie = `${BROWSER}=${browser.cookie(BROWSER)}`;
    const request = sealedIn(page);
    for (const path of ['sign-in', 'consent', 'sign-out']) {
      const answer = await post(at(`/oauth/${path}`), { request, decision: 'allow' }, { ...OWN_FORM, Cookie: cookie });
      expect([answer.status, answer.text.includes('expired')]).toEqual([400, true]);
    }
    const asSession = { ...OWN_FORM, 'Sec-Fetch-Site': 'none', Cookie: `${SESSION}=${request}` };
    expect((await browser.open(at(`${AUTHORIZE}&prompt=none`), asSession)).headers['location']).toContain(
      'login_required',
    );
    const code = { grant_type: 'authorization_code', client_id: 'web', client_secret: WEB.secret, code: request };
    expect((await post(at('/oauth/token'), code, {})).status).toBe(400);
  });

  test('B-26 attempt 125: weak, empty, different or endless passwords are refused, and the first one stays', async () => {
    const { name, browser, page } = await start();
    for (const [password, repeated] of [
      ['short', 'short'],
      ['', ''],
      [OWN, OTHER],
      [OWN, ''],
      [`Aa1${'x'.repeat(70)}`, `Aa1${'x'.repeat(70)}`],
      [`${OWN}\0`, `${OWN}\0`],
      [
        '$2b$10$..................................................…',
        '$2b$10$..................................................…',
      ],
    ] as const)
      expect((await browser.submit(page, { password, repeated })).status).toBe(400);
    expect((await stand.signIn(name, FIRST)).status).toBe(200);
  });
});
