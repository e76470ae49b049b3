import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Largest } from '../../support/largest.ts';
import { hashOf } from '../../support/passwords.ts';
import { checkSizesAsync, type Sizes } from '../../support/property.ts';
import { CLIENT, passwordOf, startCluster, startService } from './stand.ts';

/** So many requests for each endpoint. */
const REQUESTS = { cases: 150, short: 50, endOnFailure: true } as const;

/** RFC 6749 5.2. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;
const MARK = 'zebra-crossing';
const HOSTILE = ['"', '\r\n', '\\', '😀', '\u0000', 'é', '<b>', '\u2028', '%22', "';--"];

const people = async (): Promise<string> => {
  const passwordHash = await hashOf(passwordOf('ada'));
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  const groups = Array.from({ length: 1_000 }, (_, at) => `group-number-${at}`);
  return JSON.stringify({
    users: [
      { name: 'ada', groups: ['admins'], passwordHash },
      { name: 'many', groups, passwordHash },
      { name: longest, groups, passwordHash },
    ],
  });
};

async function start() {
  const users = await people();
  const names = (JSON.parse(users).users as { name: string }[]).map(({ name }) => name);
  // Guesses are not what is looked at here.
  const authentication = { authenticateRateLimiterMaxTries: 100_000, addressRateLimiterMaxTries: 100_000 };
  const service = await startService(await startCluster(), { users, config: { authentication } });
  return { service, names };
}

describe('a sign-in', () => {
  test('N-17 gives two tokens of 2 KiB at most for two hours, which nothing keeps, however long the user is', async () => {
    const { service, names } = await start();
    for (const name of names) {
      const { status, headers, text, body } = await service.signInAnswer(name, passwordOf('ada'));
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'refresh_token', 'expires_in']);
      expect(text).toMatch(/"expires_in":7200\}$/);
      expect(body.token_type).toBe('Bearer');
      expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
      for (const token of [body.access_token, body.refresh_token]) expect(token.length).toBeLessThanOrEqual(2_048);
      const next = await service.refresh(body.refresh_token);
      for (const token of [next.body.access_token, next.body.refresh_token])
        expect(token.length).toBeLessThanOrEqual(2_048);
      expect([next.headers.get('cache-control'), next.body.expires_in]).toEqual(['no-store', 7200]);
      expect((await service.list(body.access_token)).status).toBe(name === 'ada' ? 200 : 403);
    }
  });

  test.each(HOSTILE.map((text) => [JSON.stringify(text), text]))(
    'N-19 echoes nothing of a user name with %s',
    async (_, text) => {
      const { service } = await start();
      const { status, body, text: whole } = await service.signInAnswer(`${MARK}${text}${MARK}`, 'x');
      expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: 'incorrect password' }]);
      expect(whole).not.toContain(MARK);
    },
  );
});

describe('every refusal under /oauth', () => {
  const textOf = ({ upTo }: Sizes) =>
    fc
      .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string(upTo(8))), upTo(12))
      .map((parts) => `${MARK}${parts.join(MARK)}`);
  const NAMES = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope', 'refresh_token', 'token'];
  const nameOf = (sizes: Sizes) =>
    fc.oneof(fc.constantFrom(...NAMES, 'post_logout_redirect_uri', 'id_token_hint', 'state'), textOf(sizes));
  const GOOD: readonly Readonly<Record<string, string>>[] = [
    {},
    CLIENT,
    { ...CLIENT, grant_type: 'password', username: 'ada', password: 'x' },
    { ...CLIENT, grant_type: 'refresh_token', refresh_token: 'x' },
    { ...CLIENT, token: 'x' },
  ];

  test.each(['token', 'revoke', 'introspect', 'logout', 'userinfo', 'nothing'])(
    'N-19 of /oauth/%s has a description of permitted characters, and echoes nothing',
    async (endpoint) => {
      const { service } = await start();
      let refused = 0;
      // Each endpoint refuses it: without a client or a bearer, or, at the logout, with a place that is no client's.
      const examples = HOSTILE.map((text): [Record<string, string>, [string, string][], string | undefined] => [
        {},
        [['post_logout_redirect_uri', `${MARK}${text}`]],
        undefined,
      ]);
      const largest = new Largest(`a form for /oauth/${endpoint}`, 'changes');
      await checkSizesAsync(
        (sizes) =>
          fc.asyncProperty(
            fc.constantFrom(...GOOD),
            fc.array(fc.tuple(nameOf(sizes), textOf(sizes)), sizes.upTo(6, 1)),
            fc.option(textOf(sizes), { nil: undefined }),
            async (good, changes, query) => {
              largest.see(changes.length);
              const answer = await fetch(
                `${service.gatehouse.origin}/oauth/${endpoint}${query === undefined ? '' : `?${new URLSearchParams({ [query]: query })}`}`,
                {
                  method: 'POST',
                  redirect: 'manual',
                  body: new URLSearchParams({ ...good, ...Object.fromEntries(changes) }),
                },
              );
              const whole = await answer.text();
              if (answer.status < 400) return;
              refused++;
              const body = JSON.parse(whole) as { error_description: string };
              expect(Object.keys(body)).toEqual(['error', 'error_description']);
              expect(body.error_description).toMatch(DESCRIPTION);
              const headers = [...answer.headers].map((pair) => pair.join(': ')).join('\n');
              expect(`${whole}\n${headers}`).not.toContain(MARK);
            },
          ),
        { ...REQUESTS, examples },
      );
      largest.expectAtLeast(6);
      expect(refused).toBeGreaterThanOrEqual(HOSTILE.length);
    },
  );
});
