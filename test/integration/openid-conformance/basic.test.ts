import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser.ts';
import { CALLBACK, type RelyingParty, startRelyingParty } from './relying-party.ts';

let party: RelyingParty;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ party, stop } = await startRelyingParty());
});
afterAll(() => stop());

/** The errors that say that the person would have to be shown a page (OpenID Connect Core 3.1.2.6). */
const NEEDS_A_PAGE = ['login_required', 'consent_required', 'interaction_required', 'account_selection_required'];

describe('Basic OP: the flow', () => {
  test('oidcc-server: a code, an ID token, an access token that userinfo accepts', async () => {
    const { access_token, claims } = await party.signedIn();
    expect(await party.userinfo(access_token)).toMatchObject({ status: 200, body: { sub: claims.sub } });
  });

  test('oidcc-server-client-secret-post: the client may send its secret in the form', async () => {
    const url = party.request();
    const browser = new Browser();
    const answer = await party.signIn(browser, await browser.open(url));
    await party.tokensFor(url, answer, { method: 'client_secret_post' });
  });

  test('oidcc-alternate-happy-flow: the order of scopes and parameters does not matter', async () => {
    const url = party.request({ scope: 'email profile openid' });
    url.search = `?${new URLSearchParams([...url.searchParams].reverse())}`;
    const browser = new Browser();
    const { claims } = await party.tokensFor(url, await party.signIn(browser, await browser.open(url)));
    expect(claims).toMatchObject({ email: 'ada@example.com', name: 'ada' });
  });

  test('oidcc-response-type-missing: the client gets invalid_request', async () => {
    const url = party.request({ response_type: undefined });
    const returned = party.returned(url, await new Browser().open(url));
    expect([returned.get('error'), returned.has('code')]).toEqual(['invalid_request', false]);
  });

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow: the ID token then has none', async () => {
    const { claims } = await party.signedIn({ nonce: undefined });
    expect(claims).not.toHaveProperty('nonce');
  });

  test('oidcc-ensure-request-with-valid-pkce-succeeds: for a confidential and for a public client', async () => {
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'; // RFC 7636 appendix B
    const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    for (const [client, method] of [['first'], ['public', 'none']] as const) {
      const url = party.request({ client_id: client, code_challenge, code_challenge_method: 'S256' });
      const browser = new Browser();
      const answer = await party.signIn(browser, await browser.open(url));
      await party.tokensFor(url, answer, { client, form: { code_verifier }, ...(method ? { method } : {}) });
    }
  });

  test('oidcc-ensure-post-request-succeeds: the request may come as a form', async () => {
    const url = party.request();
    const browser = new Browser();
    await party.tokensFor(url, await party.signIn(browser, await party.posted(url, browser)));
  });
});

describe('Basic OP: ID tokens', () => {
  test('oidcc-idtoken-signature: RS256, with a kid that is among the published keys', async () => {
    const { id_token } = await party.signedIn();
    const { alg, kid } = decodeProtectedHeader(id_token);
    const { keys } = (await (await fetch(`${party.issuer}/keys`)).json()) as { keys: { kid: string }[] };
    expect([alg, keys.map((key) => key.kid)]).toEqual(['RS256', expect.arrayContaining([kid])]);
  });
});

describe('Basic OP: userinfo', () => {
  test('oidcc-userinfo-get: the sub of the ID token, as JSON', async () => {
    const { access_token } = await party.signedIn();
    const { status, headers, body } = await party.userinfo(access_token);
    expect([status, headers.get('content-type'), body]).toEqual([
      ...[200, expect.stringMatching(/^application\/json/)],
      { sub: 'ada' },
    ]);
  });

  test('oidcc-userinfo-post-header: the same by POST', async () => {
    const { access_token } = await party.signedIn();
    expect(await party.userinfo(access_token, 'POST')).toMatchObject({ status: 200, body: { sub: 'ada' } });
  });

  // Only a warning in the suite, because servers need not take tokens from bodies (RFC 6750 2.2).
  test('oidcc-userinfo-post-body: a token in the body is no credential', async () => {
    const { access_token } = await party.signedIn();
    const answer = await fetch(`${party.issuer}/userinfo`, {
      method: 'POST',
      body: new URLSearchParams({ access_token }),
    });
    expect(answer.status).toBe(401);
  });
});

describe('Basic OP: scopes', () => {
  const claimsOf = async (scope: string) => (await party.userinfo((await party.signedIn({ scope })).access_token)).body;
  const PROFILE = { name: 'ada', preferred_username: 'ada' };
  const EMAIL = { email: 'ada@example.com', email_verified: true };

  test.each([
    ['oidcc-scope-profile: the claims of the profile', 'openid profile', { sub: 'ada', ...PROFILE }],
    ['oidcc-scope-email: the verified address', 'openid email', { sub: 'ada', ...EMAIL }],
    ['oidcc-scope-address: is ignored, because nobody has an address here', 'openid address', { sub: 'ada' }],
    ['oidcc-scope-phone: is ignored in the same way', 'openid phone', { sub: 'ada' }],
    [
      'oidcc-scope-all: every scope at once',
      'openid address email phone profile',
      { sub: 'ada', ...PROFILE, ...EMAIL },
    ],
  ])('%s', async (_, scope, claims) => {
    expect(await claimsOf(scope)).toEqual(claims);
  });

  test('oidcc-claims-essential: the parameter claims is ignored, and the request succeeds', async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { access_token } = await party.signedIn({ claims });
    expect((await party.userinfo(access_token)).body).toEqual({ sub: 'ada' });
  });
});

describe('Basic OP: the session of the person', () => {
  test('oidcc-prompt-login: the password is asked for again, and auth_time is later', async () => {
    const { browser, claims } = await party.signedIn();
    party.pass(1);
    const again = await party.signedIn({ prompt: 'login' }, browser);
    expect(Number(again.claims['auth_time'])).toBeGreaterThan(Number(claims['auth_time']));
  });

  test('oidcc-prompt-none-not-logged-in: an error that says that a page is needed', async () => {
    const url = party.request({ prompt: 'none' });
    const returned = party.returned(url, await new Browser().open(url));
    expect(NEEDS_A_PAGE).toContain(returned.get('error'));
    expect(returned.has('code')).toBe(false);
  });

  test.each([
    ['oidcc-prompt-none-logged-in: no page, the same person and sign-in', {}, { prompt: 'none' }],
    [
      'oidcc-max-age-10000: no page, the same person and sign-in, auth_time both times',
      { max_age: '15000' },
      { max_age: '10000' },
    ],
  ])('%s', async (_, first: object, second: object) => {
    const { browser, claims } = await party.signedIn(first as Record<string, string>);
    party.pass(2);
    const url = party.request(second as Record<string, string>);
    const again = await party.tokensFor(url, await browser.open(url));
    expect(claims['auth_time']).toEqual(expect.any(Number));
    expect([again.claims.sub, again.claims['auth_time']]).toEqual([claims.sub, claims['auth_time']]);
  });

  test('oidcc-max-age-1: the password is asked for again, and auth_time is that of now', async () => {
    const { browser, claims } = await party.signedIn();
    party.pass(2);
    const again = await party.signedIn({ max_age: '1' }, browser);
    expect(Number(again.claims['auth_time'])).toBeGreaterThan(Number(claims['auth_time']));
    expect(party.nowSeconds() - Number(again.claims['auth_time'])).toBeLessThan(5);
  });

  test('oidcc-id-token-hint: beside prompt=none the named person gets a code without a page', async () => {
    const { browser, claims, id_token } = await party.signedIn();
    const url = party.request({ prompt: 'none', id_token_hint: id_token });
    const again = await party.tokensFor(url, await browser.open(url));
    expect([again.claims.sub, again.claims['auth_time']]).toEqual([claims.sub, claims['auth_time']]);
  });

  test('oidcc-login-hint: fills the name', async () => {
    const page = await new Browser().open(party.request({ login_hint: 'ada' }));
    expect(page.text).toMatch(/<input[^>]* value="ada"/);
    await party.signedIn({ login_hint: 'buffy' });
  });

  test('oidcc-ui-locales: the page speaks the language, and an unknown one is no error', async () => {
    expect((await new Browser().open(party.request({ ui_locales: 'zh-CN' }))).text).toContain('<html lang="zh');
    await party.signedIn({ ui_locales: 'se' });
  });
});

describe('Basic OP: parameters that must do no harm', () => {
  test.each([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
  ])('%s: the sign-in succeeds', async (_, parameters: object) => {
    await party.signedIn(parameters as Record<string, string>);
  });
});

describe('Basic OP: codes', () => {
  test.each([
    ['oidcc-codereuse: the second use is invalid_grant', 0],
    ['oidcc-codereuse-30seconds: the second use is invalid_grant, and the access token of the first one ends', 30],
  ])('%s', async (_, waitSeconds) => {
    const url = party.request();
    const browser = new Browser();
    const code = party.codeOf(url, await party.signIn(browser, await browser.open(url)));
    const first = await party.redeem(code);
    expect(first.status).toBe(200);
    party.pass(waitSeconds);
    expect(await party.redeem(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await party.userinfo(String(first.body['access_token']))).status).toBe(401);
  });
});

describe('Basic OP: the client', () => {
  test('oidcc-ensure-registered-redirect-uri: a page, and no redirect', async () => {
    for (const redirect_uri of ['https://evil.example.com/', `${CALLBACK}/more`, `${CALLBACK}?foo=bar`]) {
      const { status, headers } = await new Browser().open(party.request({ redirect_uri }));
      expect([status, headers['location']]).toEqual([400, undefined]);
    }
  });

  test('oidcc-refresh-token: a new pair, an ID token of the same sign-in, and no use by another client', async () => {
    const url = party.request({ scope: 'openid offline_access', prompt: 'consent' });
    const browser = new Browser();
    const consent = await party.signIn(browser, await browser.open(url));
    const first = await party.tokensFor(url, await browser.submit(consent, { decision: 'allow' }));
    party.pass(1);
    const refresh = (client: string) =>
      party.token({ client, form: { grant_type: 'refresh_token', refresh_token: first.refresh_token } });
    expect(await refresh('second')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const { status, body } = await refresh('first');
    expect([status, body['access_token'] === first.access_token]).toEqual([200, false]);
    const { iss, sub, aud, auth_time } = await party.verified(body as never, 'first');
    expect({ iss, sub, aud, auth_time }).toEqual({
      ...{ iss: first.claims.iss, sub: first.claims.sub, aud: first.claims.aud },
      auth_time: first.claims['auth_time'],
    });
    expect(Number(decodeJwt(String(body['id_token'])).iat)).toBeGreaterThan(Number(first.claims.iat));
    expect((await party.userinfo(String(body['access_token']))).status).toBe(200);
  });
});

describe('Basic OP: request objects', () => {
  /** An unsigned request object (OpenID Connect Core 6.1). */
  const unsigned = (claims: object): string =>
    `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;

  test.each([
    [
      'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
      { request: unsigned({ nonce: 'another' }) },
      'request_not_supported',
    ],
    [
      'oidcc-ensure-request-object-with-redirect-uri',
      { request: unsigned({ redirect_uri: `${CALLBACK}/other` }) },
      'request_not_supported',
    ],
    [
      'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
      { request_uri: 'https://rp.example.com/request.jwt' },
      'request_uri_not_supported',
    ],
  ])('%s: is refused by its own error', async (_, parameters: object, error) => {
    const url = party.request(parameters as Record<string, string>);
    const returned = party.returned(url, await new Browser().open(url));
    expect([returned.get('error'), returned.has('code')]).toEqual([error, false]);
  });
});
