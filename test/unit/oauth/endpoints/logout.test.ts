import { describe, expect, test } from 'vitest';
import type { EndSessionRequest, LogoutResponse } from '../../../../src/oauth/authorization-server.ts';
import { newTestServer, ORIGIN, refusalOf, signInAlice, type TestServer } from '../test-server.ts';

const BYE = 'https://console.example.com/';

async function signedIn() {
  const test = await newTestServer();
  return { test, pair: await signInAlice(test), other: await signInAlice(test) };
}

const logout = (test: TestServer, change: Partial<EndSessionRequest> = {}): Promise<LogoutResponse> =>
  test.server.logout({ ...ORIGIN, method: 'GET', queryString: '', authorization: undefined, ...change });

const query = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString();
const form = (parameters: Record<string, string>) => ({
  contentType: 'application/x-www-form-urlencoded',
  body: Buffer.from(query(parameters)),
});
const isGood = (test: TestServer, token: string): boolean => 'identity' in test.verifier.verify(token);

describe('logout', () => {
  test('T-31 ends the session of the bearer and no other', async () => {
    const { test, pair, other } = await signedIn();
    expect(await logout(test, { authorization: `Bearer ${pair.access_token}` })).toEqual({});
    expect([isGood(test, pair.access_token), isGood(test, other.access_token)]).toEqual([false, true]);
  });

  test.each(['true', '1', 'T'])('T-31 ends all sessions of the user with all=%s', async (all) => {
    const { test, pair, other } = await signedIn();
    await logout(test, { authorization: `bearer  ${pair.access_token}`, queryString: query({ all }) });
    expect([isGood(test, pair.access_token), isGood(test, other.access_token)]).toEqual([false, false]);
  });

  test('T-31 takes its parameters from the form of a POST as well', async () => {
    const { test, pair, other } = await signedIn();
    const request = {
      method: 'POST',
      authorization: `Bearer ${pair.access_token}`,
      form: form({ all: 'true' }),
    } as const;
    expect(await logout(test, request)).toEqual({});
    expect(isGood(test, other.access_token)).toBe(false);
  });

  test.each([undefined, '', 'Basic YTpi', 'Digest x'])(
    'T-32 succeeds and ends nothing without a bearer (%j)',
    async (authorization) => {
      const { test, pair } = await signedIn();
      expect(await logout(test, { authorization, queryString: 'all=true' })).toEqual({});
      expect(isGood(test, pair.access_token)).toBe(true);
    },
  );

  test('T-33 refuses a bad bearer with a challenge', async () => {
    const { test } = await signedIn();
    expect(await refusalOf(() => logout(test, { authorization: 'Bearer garbage' }))).toEqual({
      status: 401,
      code: 'invalid_token',
      description: 'the access token is not valid',
      headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
    });
  });

  test.each(['Bearer', 'Bearer a b'])('N-29 refuses the malformed header %j', async (authorization) => {
    const { test } = await signedIn();
    expect(await refusalOf(() => logout(test, { authorization }))).toEqual({
      status: 400,
      code: 'invalid_request',
      description: 'the Authorization header is malformed',
      headers: { 'WWW-Authenticate': 'Bearer realm="gatehouse", error="invalid_request"' },
    });
  });

  test('T-34 redirects to a registered address of the client of the bearer, with the state', async () => {
    const { test, pair } = await signedIn();
    const request = {
      authorization: `Bearer ${pair.access_token}`,
      queryString: query({ post_logout_redirect_uri: BYE, state: 'a b&c' }),
    };
    expect(await logout(test, request)).toEqual({ location: `${BYE}?state=a%20b%26c` });
    expect(isGood(test, pair.access_token)).toBe(false);
  });

  test('T-34 sends a state encoded, whatever it holds', async () => {
    const { test } = await signedIn();
    const state = '\r\nSet-Cookie: a=b\0\u2028#"<é&';
    const queryString = query({ client_id: 'console', post_logout_redirect_uri: BYE, state });
    expect(await logout(test, { queryString })).toEqual({
      location: `${BYE}?state=%0D%0ASet-Cookie%3A%20a%3Db%00%E2%80%A8%23%22%3C%C3%A9%26`,
    });
  });

  test('T-34 redirects for a client that is only named, and keeps the query of the address', async () => {
    const { test } = await signedIn();
    const target = 'https://console.example.com/bye?from=gatehouse';
    const parameters = { client_id: 'console', post_logout_redirect_uri: target };
    expect(await logout(test, { queryString: query({ ...parameters, state: 'x' }) })).toEqual({
      location: `${target}&state=x`,
    });
    expect(await logout(test, { queryString: query(parameters) })).toEqual({ location: target });
  });

  test.each<[string, Record<string, string>]>([
    ['a foreign address', { post_logout_redirect_uri: 'https://evil.example.com/' }],
    ['an address that only begins like a registered one', { post_logout_redirect_uri: `${BYE}x` }],
    ['an address that cannot be parsed', { post_logout_redirect_uri: '::' }],
    ['another client than that of the token', { client_id: 'other' }],
    ['all=yes', { all: 'yes' }],
    ['all=tRuE', { all: 'tRuE' }],
  ])('N-26 T-35 T-36 refuses %s and ends nothing', async (_, parameters) => {
    const { test, pair } = await signedIn();
    const request = { authorization: `Bearer ${pair.access_token}`, queryString: query(parameters) };
    expect(await refusalOf(() => logout(test, request))).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(isGood(test, pair.access_token)).toBe(true);
  });

  test('T-35 refuses an address when no client is known', async () => {
    const { test } = await signedIn();
    const queryString = query({ post_logout_redirect_uri: BYE });
    expect(await refusalOf(() => logout(test, { queryString }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });

  test('T-36 refuses a parameter given twice, in the query or in query and form', async () => {
    const { test } = await signedIn();
    expect(await refusalOf(() => logout(test, { queryString: 'state=a&state=b' }))).toMatchObject({ status: 400 });
    const both = { method: 'POST', queryString: 'all=true', form: form({ all: 'true' }) } as const;
    expect(await refusalOf(() => logout(test, both))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('T-36 answers 503 when the end cannot be written', async () => {
    const { test, pair } = await signedIn();
    test.sessions.writeFault = new Error('the cluster is away');
    expect(await refusalOf(() => logout(test, { authorization: `Bearer ${pair.access_token}` }))).toMatchObject({
      status: 503,
      code: 'server_error',
      headers: { 'Retry-After': '1' },
    });
  });

  test('R-22 says whether one session was ended or all of them', async () => {
    const { test, pair, other } = await signedIn();
    const before = test.lines.length;
    await logout(test, { authorization: `Bearer ${pair.access_token}` });
    await logout(test, { authorization: `Bearer ${other.access_token}`, queryString: 'all=1' });
    const line = { event: 'sign_out', result: 'ok', user: 'alice', clientId: 'console', sid: expect.any(String) };
    expect(test.lines.slice(before)).toMatchObject([
      { ...line, scope: 'session' },
      { ...line, scope: 'user' },
    ]);
  });

  test('R-22 is an act of somebody who shows a bearer, good or bad, and of nobody else', async () => {
    const { test } = await signedIn();
    const before = test.lines.length;
    for (const authorization of [undefined, '', 'Basic YTpi', 'Digest x']) await logout(test, { authorization });
    expect(test.lines.slice(before)).toEqual([]);
    await refusalOf(() => logout(test, { authorization: 'Bearer garbage' }));
    expect(test.lines.slice(before)).toMatchObject([{ event: 'sign_out', result: 'refused', reason: 'invalid_token' }]);
  });

  test('counts what it ends', async () => {
    const { test, pair, other } = await signedIn();
    await logout(test, { authorization: `Bearer ${pair.access_token}` });
    await logout(test, { authorization: `Bearer ${other.access_token}`, queryString: 'all=true' });
    const metric = await test.registry.getSingleMetric('gatehouse_token_revocations_total')?.get();
    expect(metric?.values.map(({ labels, value }) => [labels['scope'], value])).toEqual([
      ['session', 1],
      ['user', 1],
    ]);
  });
});
