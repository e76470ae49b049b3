import { describe, expect, test } from 'vitest';
import type { FirstPasswordRequest, FirstPasswordResult } from '../../../../src/users/first-passwords.ts';
import type { User } from '../../../../src/users/user.ts';
import { partsOf, refusalOf, type TestServer, until } from '../test-server.ts';
import { authorize, newBrowserServer, newPassword, post, redeem, returned } from './sign-in-flow.ts';

const NEW_HASH = `$2b$10$${'c'.repeat(53)}`;

/** A server on which alice has a first password, and which can set another. */
async function start(results: FirstPasswordResult[] = []) {
  const server = await newBrowserServer();
  const put = (change: Partial<User>): void => {
    server.users.set('alice', { ...(server.users.get('alice') as User), ...change });
  };
  put({ uninitialized: 'true' });
  const asked: FirstPasswordRequest[] = [];
  server.firstPasswords = {
    set: async (request) => {
      asked.push(request);
      const result = results.shift() ?? { kind: 'set' };
      if (result.kind === 'set') {
        const { uninitialized: _, ...rest } = server.users.get('alice') as User;
        server.users.set('alice', { ...rest, passwordHash: NEW_HASH });
        server.changed('alice');
      }
      return result;
    },
  };
  return { server, asked, put, page: await post(server, await authorize(server)) };
}

/** Lets the second pass in which the earlier sessions ended, as soon as the answer waits for it. */
async function pastTheEnd<Answer>({ clock }: TestServer, going: Promise<Answer>): Promise<Answer> {
  const before = clock.pendingTimers;
  let isOver = false;
  void going.finally(() => {
    isOver = true;
  });
  await until(() => isOver || clock.pendingTimers > before);
  await clock.advance(1000);
  return going;
}

describe('a person with a first password', () => {
  test('B-26 chooses another one on the page, and goes on to the client', async () => {
    const { server, asked, page } = await start();
    expect(page).toMatchObject({ kind: 'new-password', clientId: 'web', signedIn: 'alice' });
    expect(page).not.toHaveProperty('session');
    const answer = await pastTheEnd(server, newPassword(server, page));
    expect(asked).toMatchObject([{ user: { name: 'alice' }, password: 'My-own-1', source: '192.0.2.1' }]);
    const { access_token: token } = await redeem(server, returned(answer)['code'] ?? '');
    expect(partsOf(token)[1]).toMatchObject({ sub: 'alice' });
    expect(server.verifier.verify(token)).toHaveProperty('identity');
    expect(returned(await authorize(server, { prompt: 'none' }, answer.session))).toHaveProperty('code');
  });

  test('B-26 stays signed in when another replica sees the new password later', async () => {
    const { server, page, put } = await start();
    server.firstPasswords = {
      set: async () => {
        put({ passwordHash: NEW_HASH, uninitialized: undefined as never });
        return { kind: 'set' };
      },
    };
    const answer = await pastTheEnd(server, newPassword(server, page));
    const { access_token: token } = await redeem(server, returned(answer)['code'] ?? '');
    await server.clock.advance(1000);
    server.changed('alice');
    await until(() => server.sessions.writes > 1);
    expect(server.verifier.verify(token)).toHaveProperty('identity');
    expect(returned(await authorize(server, {}, answer.session))).toHaveProperty('code');
  });

  test.each<[string, FirstPasswordResult]>([
    ['breaks rules', { kind: 'refused', broken: ['short', 'digit'] }],
    ['cannot be hashed now', { kind: 'busy', retryAfterSeconds: 1 }],
  ])('B-26 gets the page again with a password that %s', async (_, result) => {
    const { server, page } = await start([result]);
    const again = await newPassword(server, page);
    expect(again).toEqual({ ...page, problem: result });
    expect(returned(await pastTheEnd(server, newPassword(server, again)))).toHaveProperty('code');
  });

  test('B-26 gets the page again when the two passwords differ', async () => {
    const { server, asked, page } = await start();
    expect(await newPassword(server, page, { repeated: 'My-own-2' })).toEqual({
      ...page,
      problem: { kind: 'different' },
    });
    expect(asked).toEqual([]);
  });

  test('B-26 begins again when the user has changed since, or needs no first password any more', async () => {
    const { server, asked, page, put } = await start([{ kind: 'outdated' }]);
    const again = { kind: 'redirect', location: expect.stringMatching(/^\/oauth\/authorize\?client_id=web&/) };
    expect(await newPassword(server, page)).toEqual(again);
    put({ passwordHash: NEW_HASH });
    expect(await newPassword(server, page)).toEqual(again);
    server.users.delete('alice');
    expect(await newPassword(server, page)).toEqual(again);
    expect(asked).toHaveLength(1);
  });

  test('B-26 sets nothing by a form of another browser, of another page, or too late', async () => {
    const { server, asked, page } = await start();
    expect(await newPassword(server, page, { browser: 'browser-of-mallory-12' })).toMatchObject({ kind: 'fault' });
    expect(await newPassword(server, await authorize(server))).toMatchObject({ kind: 'fault', fault: 'expired' });
    await server.clock.advance(600_000);
    expect(await newPassword(server, page)).toMatchObject({ kind: 'fault', fault: 'expired' });
    expect(asked).toEqual([]);
  });

  test('B-26 is told that the server failed when the password cannot be stored', async () => {
    const { server, page } = await start();
    server.firstPasswords = { set: () => Promise.reject(new Error('no write')) };
    expect(await refusalOf(() => newPassword(server, page))).toMatchObject({ status: 500 });
  });

  test('B-26 keeps the password where nothing can set another', async () => {
    const { server } = await start();
    server.firstPasswords = undefined;
    expect(returned(await post(server, await authorize(server)))).toHaveProperty('code');
  });
});
