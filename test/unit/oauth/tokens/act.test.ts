import { describe, expect, test } from 'vitest';
import { Act } from '../../../../src/oauth/tokens/act.ts';
import type { SignInResult } from '../../../../src/users/sign-in.ts';
import { formRequest, newTestServer, PASSWORD_FORM, refreshForm, refusalOf, signInAlice } from '../test-server.ts';

const told = (lines: readonly Readonly<Record<string, unknown>>[]) =>
  lines.map(({ event, result, reason, user, clientId, level }) => ({ event, result, reason, user, clientId, level }));
const INFO = 30;
const WARN = 40;

describe('the line of an act', () => {
  test.each<[SignInResult['kind'], Exclude<SignInResult, { kind: 'ok' }>]>([
    ['refused', { kind: 'refused' }],
    ['throttled', { kind: 'throttled', retryAfterSeconds: 7 }],
    ['busy', { kind: 'busy', retryAfterSeconds: 1 }],
  ])('R-22 says of a sign-in that it was %s, with the user whom the typed name names', async (result, outcome) => {
    const test = await newTestServer();
    test.signIn = () => outcome;
    await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)));
    await refusalOf(() => test.server.token(formRequest({ ...PASSWORD_FORM, username: 'canary-typed' })));
    const line = { event: 'sign_in', result, reason: 'invalid_grant', clientId: 'console', level: WARN };
    expect(told(test.lines)).toEqual([
      { ...line, user: 'alice' },
      { ...line, user: undefined },
    ]);
    expect(JSON.stringify(test.lines)).not.toContain('canary-typed');
  });

  test('R-22 says that we failed, not that the caller was refused', async () => {
    const test = await newTestServer();
    test.missing.users = 'the users are not loaded yet';
    await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)));
    expect(told(test.lines)).toMatchObject([
      { event: 'sign_in', result: 'failed', reason: 'server_error', level: WARN },
    ]);
  });

  test.each([
    [400, 'refused'],
    [401, 'refused'],
    [429, 'throttled'],
    [499, 'refused'],
    [500, 'failed'],
    [503, 'failed'],
  ])('R-22 says of an answer with %i that the act is %s, unless there is a better word', (status, result) => {
    const told: unknown[] = [];
    const events = { report: (_: string, fields: object) => void told.push(fields) };
    for (const word of [undefined, 'busy']) {
      const act = new Act(events, { source: '192.0.2.1', requestId: 'theirs', ownRequestId: 'ours' }, 'token');
      act.is('sign_in');
      if (word) act.came(word);
      act.refused({ status, code: 'server_error' });
      act.end();
    }
    const line = { source: '192.0.2.1', requestId: 'theirs', ownRequestId: 'ours', reason: 'server_error' };
    expect(told).toEqual([
      { ...line, result },
      { ...line, result: 'busy' },
    ]);
  });

  test('R-22 is not written of what was never said to be an act', () => {
    const told: unknown[] = [];
    const act = new Act({ report: (...event) => void told.push(event) }, { source: '', requestId: '' }, 'token');
    act.involves({ user: 'alice' });
    act.refused({ status: 400, code: 'invalid_request' });
    act.end();
    expect(told).toEqual([]);
  });

  test('R-22 says of a refresh that it came too often', async () => {
    const test = await newTestServer();
    let { refresh_token: token } = await signInAlice(test);
    for (let time = 0; time < 10; time++)
      token = (await test.server.token(formRequest(refreshForm(token)))).refresh_token;
    await refusalOf(() => test.server.token(formRequest(refreshForm(token))));
    expect(told(test.lines).at(-1)).toEqual({
      ...{ event: 'refresh', result: 'throttled', reason: 'temporarily_unavailable', user: 'alice' },
      ...{ clientId: 'console', level: WARN },
    });
  });

  test('R-22 says that a sign-in ended the other sessions, in the same line', async () => {
    const test = await newTestServer({ multipleLogin: false });
    await signInAlice(test);
    expect(test.lines).toMatchObject([{ event: 'sign_in', result: 'ok', othersEnded: true, level: INFO }]);
  });

  test('R-22 says of a client that is not let in at which endpoint, and why', async () => {
    const test = await newTestServer();
    const wrong = { ...PASSWORD_FORM, client_secret: 'wrong', token: 'x' };
    await refusalOf(() => test.server.token(formRequest(wrong)));
    await refusalOf(() => test.server.introspect(formRequest({ ...wrong, client_id: 'canary' })));
    const line = { event: 'client_refused', result: 'refused', level: WARN };
    expect(test.lines).toMatchObject([
      { ...line, endpoint: 'token', reason: 'wrong_secret', clientId: 'console' },
      { ...line, endpoint: 'introspect', reason: 'unknown_client' },
    ]);
    expect(JSON.stringify(test.lines)).not.toContain('canary');
  });

  test('tells the access log who takes part as soon as it is known, also in what is refused', async () => {
    const test = await newTestServer();
    const actors: unknown[] = [];
    const change = { actorKnown: (actor: object) => void actors.push(actor) };
    test.signIn = () => ({ kind: 'refused' });
    await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM, change)));
    await refusalOf(() => test.server.token(formRequest({ ...PASSWORD_FORM, client_id: 'canary' }, change)));
    expect(actors).toEqual([{ clientId: 'console' }, { user: 'alice', clientId: 'console' }, { clientId: undefined }]);
  });
});
