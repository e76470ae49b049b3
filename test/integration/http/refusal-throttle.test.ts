import { afterEach, describe, expect, test } from 'vitest';
import { clientAuthenticationFailed, loginRequired } from '../../../src/oauth/endpoints/refusals.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type AppUnderTest, eventually, fakeAuthorizationServer, startApp } from './app-under-test.ts';

/** More than go at once. */
const MANY = 60;
const AT_ONCE = 50;

let app: AppUnderTest | undefined;
let clock = new FakeClock();
afterEach(async () => {
  await Promise.all([app?.stop(), clock.advance(60_000)]);
});

/** Lets in whoever shows the right credentials, as the fakes know them. */
async function start(): Promise<AppUnderTest> {
  clock = new FakeClock();
  const refuse = async (): Promise<never> => {
    throw clientAuthenticationFailed('gatehouse');
  };
  const logout = async (): Promise<never> => {
    throw loginRequired('gatehouse');
  };
  const server = { ...fakeAuthorizationServer, token: refuse, revoke: refuse, introspect: refuse, logout };
  app = await startApp({ clock, authorizationServer: server });
  return app;
}

function ask({ url }: AppUnderTest, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const body = new URLSearchParams({ token: 'x' });
  return fetch(url + path, { method: 'POST', body, headers }).then(async (answer) => {
    await answer.text();
    return answer.status;
  });
}

describe('callers that are not let in', () => {
  test.each(['/oauth/authenticate', '/oauth/introspect', '/oauth/revoke', '/oauth/token', '/oauth/logout'])(
    'R-02 wait for their turn at %s after the first fifty, and hold up nobody who is let in',
    async (path) => {
      const own = await start();
      const statuses: number[] = [];
      const all = Array.from({ length: MANY }, () => ask(own, path).then((status) => statuses.push(status)));
      await eventually(() => statuses.length >= AT_ONCE);
      const reviewed = await ask(own, '/oauth/authenticate', { Authorization: 'Bearer good' });
      expect([reviewed, statuses.length]).toEqual([200, AT_ONCE]);
      await clock.advance(5 * (MANY - AT_ONCE));
      await Promise.all(all);
      expect(statuses).toEqual(Array<number>(MANY).fill(401));
    },
  );
});
