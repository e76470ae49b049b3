import { describe, expect, test } from 'vitest';
import { neverProven } from '../../../../src/data-age.ts';
import type { FormRequest } from '../../../../src/oauth/authorization-server.ts';
import {
  formRequest,
  newTestServer,
  PASSWORD_FORM,
  refreshForm,
  refusalOf,
  setBack,
  type TestServer,
} from '../test-server.ts';

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="gatehouse"' };
const CLIENT_FAILED = {
  status: 401,
  code: 'invalid_client',
  description: 'client authentication failed',
  headers: CHALLENGE,
};
const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(PASSWORD_FORM).filter(([key]) => key !== name));
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;
const USER_ONLY = { grant_type: 'password', username: 'alice', password: 'Made-up-1' };

async function refused(body: string | Record<string, string>, change: Partial<FormRequest> = {}) {
  const { server } = await newTestServer();
  return refusalOf(() => server.token(formRequest(body, change)));
}

describe('client authentication', () => {
  test.each([
    ['an unknown client', { ...PASSWORD_FORM, client_id: 'no-such-client' }],
    ['a wrong secret', { ...PASSWORD_FORM, client_secret: 'wrong' }],
    ['a client id in other case', { ...PASSWORD_FORM, client_id: 'CONSOLE' }],
    ['no client_id', without('client_id')],
    ['an empty client_id', { ...PASSWORD_FORM, client_id: '' }],
    ['no secret', without('client_secret')],
    ['an empty secret', { ...PASSWORD_FORM, client_secret: '' }],
    ['a public client that sends a secret', { ...PASSWORD_FORM, client_id: 'app', client_secret: 'x' }],
    ['no parameter at all', ''],
  ])('N-10 answers %s with one and the same 401', async (_, form) => {
    expect(await refused(form)).toEqual(CLIENT_FAILED);
  });

  test.each([
    ['a wrong secret', basic('console:wrong')],
    ['an unknown client', basic('nobody:wrong')],
    ['an empty secret', basic('console:')],
    ['a user instead of a client', basic('alice:Made-up-1')],
    ['no colon', basic('nocolon')],
    ['no base64', 'Basic %%%'],
    ['nothing after the scheme', 'Basic'],
    ['a broken escape', basic('console:%zz')],
    ['another scheme', 'Digest username="console"'],
  ])('N-08 N-10 refuses a header with %s', async (_, authorization) => {
    expect(await refused(USER_ONLY, { authorization })).toEqual(CLIENT_FAILED);
  });

  test.each([
    ['plain', basic('console:made-up-secret')],
    ['with the scheme in lower case', `basic ${basic('console:made-up-secret').slice(6)}`],
    ['form-encoded', basic('other:p%3Aa%25ss+%2Bw%C3%B6rd%26%3D1')],
  ])('N-08 takes HTTP Basic, %s', async (_, authorization) => {
    const { server } = await newTestServer();
    expect(await server.token(formRequest(USER_ONLY, { authorization }))).toMatchObject({ expires_in: 7200 });
  });

  test('N-09 refuses a secret in header and body', async () => {
    const authorization = basic('console:made-up-secret');
    expect(await refused(PASSWORD_FORM, { authorization })).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('N-09 refuses another client_id in the body, and takes the same', async () => {
    const authorization = basic('console:made-up-secret');
    const named = (client_id: string) => ({ ...USER_ONLY, client_id });
    expect(await refused(named('other'), { authorization })).toMatchObject({ status: 400, code: 'invalid_request' });
    const { server } = await newTestServer();
    expect(await server.token(formRequest(named('console'), { authorization }))).toMatchObject({
      token_type: 'Bearer',
    });
  });

  test('takes a public client by its client_id alone', async () => {
    expect(await refused({ grant_type: 'refresh_token', client_id: 'app', refresh_token: 'x' })).toMatchObject({
      code: 'invalid_grant',
    });
  });

  test('ignores a broken bearer beside a sign-in', async () => {
    const { server } = await newTestServer();
    const request = formRequest(PASSWORD_FORM, { authorization: 'Bearer garbage' });
    expect(await server.token(request)).toMatchObject({ token_type: 'Bearer' });
  });
});

describe('the token endpoint', () => {
  test('N-17 answers a sign-in with both tokens, in the order of the contract', async () => {
    const { server } = await newTestServer();
    const answer = await server.token(formRequest(PASSWORD_FORM));
    expect(Object.keys(answer)).toEqual(['access_token', 'token_type', 'refresh_token', 'expires_in']);
    expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 7200 });
  });

  test('N-11 refuses a grant that the client may not use', async () => {
    const form = { ...PASSWORD_FORM, client_id: 'reader', client_secret: 'made-up-other' };
    expect(await refused(form)).toMatchObject({ status: 400, code: 'unauthorized_client' });
  });

  test.each([
    ['missing', without('grant_type'), 'invalid_request'],
    ['empty', { ...PASSWORD_FORM, grant_type: '' }, 'invalid_request'],
    ['unknown', { ...PASSWORD_FORM, grant_type: 'x' }, 'unsupported_grant_type'],
    ['in other case', { ...PASSWORD_FORM, grant_type: 'PASSWORD' }, 'unsupported_grant_type'],
    ['not offered yet', { ...PASSWORD_FORM, grant_type: 'authorization_code' }, 'unsupported_grant_type'],
  ])('N-12 answers a grant_type that is %s', async (_, form, code) => {
    expect(await refused(form)).toMatchObject({ status: 400, code });
  });

  test.each(['username', 'password'])('N-05 N-13 names the missing parameter %s', async (name) => {
    const refusal = { status: 400, code: 'invalid_request', description: `the parameter ${name} is missing` };
    expect(await refused(without(name))).toEqual(refusal);
    expect(await refused({ ...PASSWORD_FORM, [name]: '' })).toEqual(refusal);
  });

  test('N-14 A-42 answers every failed sign-in with the same words', async () => {
    expect(await refused({ ...PASSWORD_FORM, username: 'nobody' })).toEqual({
      status: 400,
      code: 'invalid_grant',
      description: 'incorrect password',
    });
  });

  test.each(['throttled', 'busy'] as const)(
    'N-15 N-51 answers a sign-in that is %s with 429 and Retry-After',
    async (kind) => {
      const test = await newTestServer();
      test.signIn = () => ({ kind, retryAfterSeconds: 17 });
      expect(await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)))).toEqual({
        status: 429,
        code: 'invalid_grant',
        description: 'auth rate limit exceeded',
        headers: { 'Retry-After': '17' },
      });
    },
  );

  test('N-18 refuses an unknown scope word and reports known ones', async () => {
    expect(await refused({ ...PASSWORD_FORM, scope: 'openid nonsense' })).toMatchObject({ code: 'invalid_scope' });
    const { server } = await newTestServer();
    const answer = await server.token(formRequest({ ...PASSWORD_FORM, scope: 'openid  profile openid' }));
    expect(Object.keys(answer)).toContain('scope');
    expect(answer.scope).toBe('openid profile');
  });

  test('checks form, client, grant type, scope and credentials in this order', async () => {
    const worst = { ...PASSWORD_FORM, client_secret: 'wrong', grant_type: 'x', scope: 'y', username: 'nobody' };
    expect(await refused(`${new URLSearchParams(worst)}&username=b`)).toMatchObject({ code: 'invalid_request' });
    expect(await refused(worst)).toMatchObject({ code: 'invalid_client' });
    expect(await refused({ ...worst, client_secret: 'made-up-secret' })).toMatchObject({
      code: 'unsupported_grant_type',
    });
    expect(await refused({ ...PASSWORD_FORM, scope: 'y', username: 'nobody' })).toMatchObject({
      code: 'invalid_scope',
    });
  });

  test('hands the password on as it was sent, with the source and the signal', async () => {
    const test = await newTestServer();
    const seen: unknown[] = [];
    test.signIn = (attempt) => {
      seen.push(attempt);
      return { kind: 'refused' };
    };
    const request = formRequest({ ...PASSWORD_FORM, username: 'Al ', password: ' p\u0000ü ' });
    await refusalOf(() => test.server.token(request));
    expect(seen).toEqual([{ username: 'Al ', password: ' p\u0000ü ', source: '192.0.2.1', signal: request.signal }]);
  });

  test('N-19 has descriptions in the characters of RFC 6749 5.2', async () => {
    for (const form of [
      '',
      'a=%zz',
      without('username'),
      { ...PASSWORD_FORM, username: '"\r\n😀' },
      refreshForm('x'),
    ]) {
      expect((await refused(form)).description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
    }
  });

  test.each<[string, (test: TestServer) => unknown]>([
    ['there are no keys', ({ secrets }) => Object.assign(secrets.proof, neverProven())],
    ['the session records are not known', ({ sessions }) => Object.assign(sessions, { unknown: 'not loaded' })],
    ['not every user is known', ({ missing }) => Object.assign(missing, { users: 'not read yet' })],
  ])('C-38 answers 503 while %s, before anything is hashed', async (_, miss) => {
    const test = await newTestServer();
    test.signIn = () => {
      throw new Error('must not be asked');
    };
    miss(test);
    expect(await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)))).toMatchObject({
      status: 503,
      code: 'server_error',
      headers: { 'Retry-After': '1' },
    });
  });

  test.each<[string, (test: TestServer) => unknown]>([
    ['signing keys', ({ secrets, clock }) => setBack(secrets.proof, clock)],
    ['sessions', ({ sessions, clock }) => setBack(sessions.proof, clock)],
    ['users', ({ missing, clock }) => setBack(missing.proof, clock)],
  ])('C-38 answers 503 with the true limit while %s are too old', async (data, age) => {
    const test = await newTestServer();
    age(test);
    const answer = await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)));
    expect(answer).toEqual({
      status: 503,
      code: 'server_error',
      description: `${data} are not available: data is older than 10m0s`,
      headers: { 'Retry-After': '30' },
    });
    expect(answer.description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
  });

  test('answers an unexpected failure with 500 and tells nothing of it', async () => {
    const test = await newTestServer();
    test.signIn = () => {
      throw new Error('internal detail');
    };
    expect(await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)))).toEqual({
      status: 500,
      code: 'server_error',
      description: 'the server failed',
    });
  });

  test('counts requests by grant type and result, with bounded labels', async () => {
    const test = await newTestServer();
    await test.server.token(formRequest(PASSWORD_FORM));
    await refusalOf(() => test.server.token(formRequest({ ...PASSWORD_FORM, username: 'nobody' })));
    await refusalOf(() => test.server.token(formRequest({ ...PASSWORD_FORM, grant_type: 'made-up' })));
    await refusalOf(() => test.server.checkFormHead('token', 'text/plain', ''));
    const metric = await test.registry.getSingleMetric('gatehouse_token_requests_total')?.get();
    const counted = metric?.values.filter(({ value }) => value > 0).map(({ labels, value }) => ({ ...labels, value }));
    expect(counted).toEqual([
      { grant_type: 'none', result: 'invalid_request', value: 1 },
      { grant_type: 'none', result: 'unsupported_grant_type', value: 1 },
      { grant_type: 'password', result: 'ok', value: 1 },
      { grant_type: 'password', result: 'invalid_grant', value: 1 },
    ]);
  });
});
