import { describe, expect, test } from 'vitest';
import type { SignInResult } from '../../../../src/users/sign-in.ts';
import { refusalOf, testOptions } from '../test-server.ts';
import { authorize, CALLBACK, newBrowserServer, newCode, open, post, returned } from './sign-in-flow.ts';

const CODE = /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/;

describe('the authorization endpoint', () => {
  test('B-15 sends the browser back with a code, the state and the issuer, after the right password', async () => {
    const server = await newBrowserServer();
    const page = await authorize(server, { login_hint: 'ali' });
    expect(page).toMatchObject({ kind: 'sign-in', clientId: 'web', username: 'ali', redirectURI: CALLBACK });
    const answer = await post(server, page);
    expect(returned(answer)).toEqual({
      ...{ tenant: '1', code: expect.stringMatching(CODE) },
      ...{ state: 'state of web', iss: testOptions.issuer },
    });
    expect(returned(answer)['code']?.length).toBeLessThan(1_536);
  });

  test('B-15 sends the issuer with an error, too', async () => {
    const server = await newBrowserServer();
    expect(returned(await authorize(server, { response_type: 'token' }))).toEqual({
      ...{ tenant: '1', error: 'unsupported_response_type', error_description: expect.any(String) },
      ...{ state: 'state of web', iss: testOptions.issuer },
    });
  });

  test('B-05 has the fields of a form for a client that wants one', async () => {
    const server = await newBrowserServer();
    expect(await post(server, await authorize(server, { response_mode: 'form_post' }))).toMatchObject({
      kind: 'post',
      action: CALLBACK,
      fields: { code: expect.stringMatching(CODE), state: 'state of web', iss: testOptions.issuer },
    });
  });

  test('B-11 answers a silent request that nobody is signed in', async () => {
    const server = await newBrowserServer();
    expect(returned(await authorize(server, { prompt: 'none' }))).toMatchObject({ error: 'login_required' });
  });

  test('B-17 refuses a client that may sign nobody in', async () => {
    const { clients } = testOptions;
    const denied = { ...clients[0], name: 'web', redirectURIs: [CALLBACK], grantMethod: 'deny' } as (typeof clients)[0];
    const server = await newBrowserServer({ clients: [{ ...denied, grantTypes: ['authorization_code'] }] });
    expect(returned(await authorize(server))).toMatchObject({ error: 'access_denied' });
  });

  test('B-20 writes nothing until the code is redeemed, however many come', async () => {
    const server = await newBrowserServer();
    for (let visit = 0; visit < 100; visit++) await authorize(server);
    await newCode(server);
    expect(server.sessions.writes).toBe(0);
  });

  test.each<[string, SignInResult, object]>([
    ['incorrect', { kind: 'refused' }, {}],
    ['throttled', { kind: 'throttled', retryAfterSeconds: 90 }, { retryAfterSeconds: 90 }],
    ['busy', { kind: 'busy', retryAfterSeconds: 1 }, { retryAfterSeconds: 1 }],
  ])('B-25 shows the page again when the sign-in is %s', async (problem, result, more) => {
    const server = await newBrowserServer();
    server.signIn = () => result;
    const page = await authorize(server);
    const again = await post(server, page);
    expect(again).toEqual({ ...page, username: 'alice', problem, ...more });
    server.signIn = () => ({ kind: 'ok', user: server.users.get('alice') as never });
    expect(returned(await post(server, again))).toHaveProperty('code');
  });

  test.each([{ username: '' }, { password: '' }])('asks again when a field is empty: %j', async (form) => {
    const server = await newBrowserServer();
    expect(await post(server, await authorize(server), form)).toMatchObject({ problem: 'incomplete' });
    expect(server.lines.filter(({ event }) => event !== undefined)).toEqual([]);
  });

  test('B-24 refuses the form of another browser, or without a cookie, and offers to begin again', async () => {
    const server = await newBrowserServer();
    const page = await authorize(server);
    for (const browser of ['', 'browser-of-mallory-12']) {
      const answer = await post(server, page, { browser });
      expect(answer).toMatchObject({ kind: 'fault', fault: 'lost_cookie' });
      const again = 'again' in answer ? (answer.again ?? '') : '';
      const query = again.replace(/^\/oauth\/authorize\?/, '');
      expect(await open(server, query, { browser: 'another-browser' })).toMatchObject({
        ...{ kind: 'sign-in', clientId: 'web', redirectURI: CALLBACK },
      });
    }
  });

  test('B-20 refuses a form that has expired, was changed or is of another kind', async () => {
    const server = await newBrowserServer();
    const page = await authorize(server);
    const code = await newCode(server);
    const expired = { kind: 'fault', fault: 'expired' };
    for (const request of ['', 'garbage', 'e30.e30.e30', code, 'x'.repeat(20_000)])
      expect(await post(server, page, { request })).toEqual(expired);
    await server.clock.advance(600_000);
    expect(await post(server, page)).toEqual(expired);
  });

  test('C-38 answers 503 while it cannot know who may sign in', async () => {
    const server = await newBrowserServer();
    const page = await authorize(server);
    server.missing.users = 'the users are not loaded yet';
    expect(await refusalOf(() => authorize(server))).toMatchObject({ status: 503 });
    expect(await refusalOf(() => post(server, page))).toMatchObject({ status: 503, code: 'server_error' });
  });

  test('B-44 leaves the acts in the audit trail, and no code', async () => {
    const server = await newBrowserServer();
    const page = await authorize(server);
    server.signIn = () => ({ kind: 'refused' });
    await post(server, page);
    server.signIn = () => ({ kind: 'ok', user: server.users.get('alice') as never });
    const { code = '' } = returned(await post(server, page));
    const audit = server.lines.filter(({ event }) => event !== undefined);
    expect(audit).toMatchObject([
      { event: 'sign_in', result: 'refused', user: 'alice', clientId: 'web' },
      { event: 'code_issued', result: 'ok', user: 'alice', clientId: 'web', sid: expect.any(String) },
    ]);
    expect(JSON.stringify(server.lines)).not.toContain(code);
  });
});
