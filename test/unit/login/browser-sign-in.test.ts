import { expect, test } from 'vitest';
import { signInByBrowser } from '../../../src/cli/login/browser/browser-sign-in.ts';
import type { ServerAnswer, ServerCall } from '../../../src/cli/login/server/server-calls.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('D-07 a browser that does not come back is waited for three minutes, and the port is given back', async () => {
  const clock = new FakeClock();
  const server = 'https://gatehouse.example.com';
  const metadata = { issuer: server, authorization_endpoint: `${server}/oauth/authorize` };
  const call = async ({ path }: ServerCall): Promise<ServerAnswer> =>
    path.startsWith('/.well-known/')
      ? { status: 200, body: metadata, retryAfterSeconds: undefined }
      : { status: 303, body: {}, retryAfterSeconds: undefined, location: 'http://127.0.0.1:1?error=login_required' };
  let address: string | undefined;
  const session = signInByBrowser(undefined, {
    ...{ calls: { call }, tokens: { redeem: async () => undefined }, clock, random: systemRandom },
    ...{ server, clientId: 'gatehouse', complain: () => {}, onInterrupt: () => () => {} },
    browser: {
      open: (opened) => {
        address = opened;
      },
    },
  });
  const failed = expect(session).rejects.toThrow('the browser has not come back for three minutes');
  await expect.poll(() => address).toBeDefined();
  await clock.advance(179_000);
  const listener = new URL(address ?? '').searchParams.get('redirect_uri') ?? '';
  expect((await fetch(listener)).status).toBe(404);
  await clock.advance(1_000);
  await failed;
  await expect(fetch(listener)).rejects.toThrow('fetch failed');
});
