import { expect, test } from 'vitest';
import type { ServerCalls } from '../../../src/cli/login/server/server-calls.ts';
import { TokenClient } from '../../../src/cli/login/server/token-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const PAIR = { access_token: 'a.b-c_d', refresh_token: 'r', expires_in: 7200 };

/** A sign-in at a server that answers this. */
function signIn(body: object) {
  const calls = { call: async () => ({ status: 200, body, retryAfterSeconds: undefined }) } as unknown as ServerCalls;
  const who = { server: 'https://gatehouse.example', clientId: 'gatehouse', clientSecret: 'gatehouse' };
  return new TokenClient({ ...who, calls, clock: new FakeClock() }).signIn('ada', 'secret');
}

test('a pair of tokens is a session', async () => {
  expect(await signIn(PAIR)).toMatchObject({ accessToken: 'a.b-c_d', refreshToken: 'r', username: 'ada' });
});

test.each([
  ['a token that commands the terminal', { access_token: '\u001b]0;x\u0007' }],
  ['a token with a line break', { access_token: 'a\r\nX: y' }],
  ['a token that is no text', { refresh_token: 7 }],
  ['a token without end', { expires_in: Number.POSITIVE_INFINITY }],
  ['a lifetime that no date can have', { expires_in: 1e300 }],
  ['a lifetime that is over', { expires_in: -1 }],
])('%s is not', async (_, change) => {
  await expect(signIn({ ...PAIR, ...change })).rejects.toThrow('answers 200 to a sign-in: is it the address');
});
