import { describe, expect, test } from 'vitest';
import { neverProven } from '../../../../src/data-age.ts';
import type { FormRequest, TokenResponse } from '../../../../src/oauth/authorization-server.ts';
import type { User } from '../../../../src/users/user.ts';
import { countedBy } from '../../../support/counted.ts';
import {
  formRequest,
  newTestServer,
  partsOf,
  refresh,
  refusalOf,
  signInAlice,
  type TestServer,
} from '../test-server.ts';

const CONSOLE = { client_id: 'console', client_secret: 'made-up-secret' };

const revoke = (test: TestServer, form: Record<string, string>, change: Partial<FormRequest> = {}): Promise<void> =>
  test.server.revoke(formRequest(form, change));

const isGood = (test: TestServer, { access_token }: TokenResponse): boolean =>
  'identity' in test.verifier.verify(access_token);

const REFUSED_REFRESH = { status: 400, code: 'invalid_grant', description: 'the refresh token is not valid' };

async function signedIn() {
  const test = await newTestServer();
  return { test, pair: await signInAlice(test), other: await signInAlice(test) };
}

const results = ({ registry }: TestServer): Promise<Record<string, number>> =>
  countedBy(registry, 'gatehouse_revocation_requests_total', 'result');

describe('revocation', () => {
  test.each(['refresh_token', 'access_token'] as const)(
    'N-47 N-48 ends the session of the %s, access and refresh tokens, and no other session',
    async (kind) => {
      const { test, pair, other } = await signedIn();
      await expect(revoke(test, { ...CONSOLE, token: pair[kind] })).resolves.toBeUndefined();
      expect([isGood(test, pair), isGood(test, other)]).toEqual([false, true]);
      expect(await refusalOf(() => refresh(test, pair.refresh_token))).toEqual(REFUSED_REFRESH);
      expect(await refresh(test, other.refresh_token)).toMatchObject({ token_type: 'Bearer' });
      expect(await results(test)).toEqual({ ended: 1 });
    },
  );

  test('N-48 ends the access tokens of every generation, also by a refresh token that was rotated away', async () => {
    const { test, pair } = await signedIn();
    const next = await refresh(test, pair.refresh_token);
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    expect([isGood(test, pair), isGood(test, next)]).toEqual([false, false]);
    expect(await refusalOf(() => refresh(test, next.refresh_token))).toEqual(REFUSED_REFRESH);
  });

  test('is told in one line, with whose session it was', async () => {
    const { test, pair } = await signedIn();
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    const { sid } = partsOf(pair.access_token)[1];
    expect(test.lines.slice(2)).toMatchObject([
      { event: 'revocation', result: 'ended', user: 'alice', clientId: 'console', sid, requestId: 'request-1' },
    ]);
  });

  test.each(['access_token', 'refresh_token', 'made-up', ''])(
    'takes the hint %j whatever the token is',
    async (hint) => {
      const { test, pair } = await signedIn();
      await revoke(test, { ...CONSOLE, token: pair.refresh_token, token_type_hint: hint });
      expect(isGood(test, pair)).toBe(false);
    },
  );

  test('takes a public client by its name alone (RFC 7009 2.1)', async () => {
    const { test, pair } = await signedIn();
    await expect(revoke(test, { client_id: 'app', token: 'garbage' })).resolves.toBeUndefined();
    expect(await refusalOf(() => revoke(test, { client_id: 'app', token: pair.refresh_token }))).toMatchObject({
      code: 'invalid_grant',
    });
  });

  test.each(['garbage', 'a.b.c', 'ü', 'a'.repeat(9000)])('T-24 has nothing to end for %.10s', async (token) => {
    const { test, pair } = await signedIn();
    await expect(revoke(test, { ...CONSOLE, token })).resolves.toBeUndefined();
    expect([isGood(test, pair), test.sessions.writes]).toEqual([true, 0]);
    expect(await results(test)).toEqual({ nothing_to_end: 1 });
  });

  test('T-24 has nothing to end for a token that expired, or whose session has ended', async () => {
    const { test, pair, other } = await signedIn();
    await revoke(test, { ...CONSOLE, token: pair.access_token });
    expect(test.sessions.writes).toBe(1);
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    test.clock.jumpWall(7_211_000);
    await revoke(test, { ...CONSOLE, token: other.access_token });
    expect(test.sessions.writes).toBe(1);
    expect(await results(test)).toEqual({ ended: 1, nothing_to_end: 2 });
  });

  test('ends the session of a user who is disabled: that may change again', async () => {
    const { test, pair } = await signedIn();
    const alice = test.users.get('alice') as User;
    test.users.set('alice', { ...alice, state: 'Disabled' });
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    test.users.set('alice', alice);
    expect(isGood(test, pair)).toBe(false);
  });

  test.each(['refresh_token', 'access_token'] as const)(
    'N-47 T-25 refuses the %s of another client, which stays good',
    async (kind) => {
      const { test, pair } = await signedIn();
      const form = { client_id: 'other', client_secret: 'p:a%ss +wörd&=1', token: pair[kind] };
      expect(await refusalOf(() => revoke(test, form))).toEqual({
        status: 400,
        code: 'invalid_grant',
        description: 'the token was issued to another client',
      });
      expect(isGood(test, pair)).toBe(true);
      expect(await refresh(test, pair.refresh_token)).toMatchObject({ token_type: 'Bearer' });
    },
  );

  test('T-25 answers 503 when the end cannot be written, and ends it at the next try', async () => {
    const { test, pair } = await signedIn();
    test.sessions.writeFault = new Error('the cluster is away');
    expect(await refusalOf(() => revoke(test, { ...CONSOLE, token: pair.refresh_token }))).toEqual({
      status: 503,
      code: 'server_error',
      description: 'the server cannot answer now; try again',
      headers: { 'Retry-After': '1' },
    });
    expect(isGood(test, pair)).toBe(true);
    test.sessions.writeFault = undefined;
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    expect(isGood(test, pair)).toBe(false);
    expect(await results(test)).toEqual({ server_error: 1, ended: 1 });
  });

  test.each<[string, (test: TestServer) => void]>([
    ['C-38 the session records are stale', (test) => (test.sessions.unknown = 'the session records are stale')],
    ['the signing keys are not loaded', ({ secrets }) => Object.assign(secrets.proof, neverProven())],
  ])('%s: answers 503, for 200 would say that the session has ended', async (_, breakIt) => {
    const { test, pair } = await signedIn();
    breakIt(test);
    expect(await refusalOf(() => revoke(test, { ...CONSOLE, token: pair.refresh_token }))).toMatchObject({
      status: 503,
      headers: { 'Retry-After': '1' },
    });
  });

  test('ends a session while not every user is known: the state of the user does not matter', async () => {
    const { test, pair } = await signedIn();
    test.missing.users = 'the Secret is not read yet';
    await revoke(test, { ...CONSOLE, token: pair.refresh_token });
    test.missing.users = undefined;
    expect(isGood(test, pair)).toBe(false);
  });
});
