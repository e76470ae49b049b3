import { describe, expect, test } from 'vitest';
import type { SignInResult } from '../../../../src/users/sign-in.ts';
import { formRequest, PASSWORD_FORM, refusalOf, type TestServer, testOptions } from '../test-server.ts';
import { authorize, CALLBACK, decide, newBrowserServer, newCode, post, redeem, returned } from './sign-in-flow.ts';

/** The counted sign-ins, as `<by> <result>`, without series that are 0. */
async function signIns({ registry }: TestServer): Promise<Record<string, number>> {
  const { values = [] } = (await registry.getSingleMetric('gatehouse_sign_ins_total')?.get()) ?? {};
  const counted = values.filter(({ value }) => value > 0);
  return Object.fromEntries(counted.map(({ labels, value }) => [`${labels['by']} ${labels['result']}`, value]));
}

const value = async ({ registry }: TestServer, series: string): Promise<string | undefined> =>
  (await registry.metrics()).split('\n').find((line) => line.startsWith(`${series} `));

/** The lines of the audit trail: event, result and `by`. */
const acts = ({ lines }: TestServer) =>
  lines.filter(({ event }) => event !== undefined).map(({ event, result, by }) => [event, result, by]);

const asking = {
  ...{ name: 'web', secret: 'made-up-secret-of-web', public: false, grantMethod: 'prompt' as const },
  ...{ grantTypes: ['authorization_code'], redirectURIs: [CALLBACK], postLogoutRedirectURIs: [] },
};

describe('sign-ins are counted by their way', () => {
  test('B-46 passwords at the token endpoint, passwords on the page, and sessions of browsers', async () => {
    const test = await newBrowserServer();
    await test.server.token(formRequest(PASSWORD_FORM));
    const { session } = await post(test, await authorize(test));
    for (const prompt of ['', 'none', 'login']) await authorize(test, { prompt }, session);
    expect(await signIns(test)).toEqual({ 'password_grant ok': 1, 'page ok': 1, 'session ok': 2 });
  });

  test.each<SignInResult>([
    { kind: 'refused' },
    { kind: 'throttled', retryAfterSeconds: 9 },
    { kind: 'busy', retryAfterSeconds: 1 },
  ])('B-46 with the result $kind', async (result) => {
    const test = await newBrowserServer();
    test.signIn = () => result;
    await refusalOf(() => test.server.token(formRequest(PASSWORD_FORM)));
    await post(test, await authorize(test));
    expect(await signIns(test)).toEqual({ [`password_grant ${result.kind}`]: 1, [`page ${result.kind}`]: 1 });
  });

  test('B-46 once, although the person is asked for consent in between', async () => {
    const test = await newBrowserServer({ clients: [...testOptions.clients, asking] });
    const page = await post(test, await authorize(test));
    await decide(test, page, { session: page.session });
    expect(await signIns(test)).toEqual({ 'page ok': 1 });
    const again = await authorize(test, { prompt: 'consent' }, page.session);
    expect(await signIns(test)).toEqual({ 'page ok': 1 });
    await decide(test, again, { session: again.session });
    expect(await signIns(test)).toEqual({ 'page ok': 1, 'session ok': 1 });
  });

  test('B-46 and every series is there from the start, with those of codes', async () => {
    const test = await newBrowserServer();
    for (const by of ['password_grant', 'page'])
      for (const result of ['ok', 'refused', 'throttled', 'busy'])
        expect(await value(test, `gatehouse_sign_ins_total{by="${by}",result="${result}"}`)).toMatch(/ 0$/);
    expect(await value(test, 'gatehouse_sign_ins_total{by="session",result="ok"}')).toMatch(/ 0$/);
    for (const result of ['ok', 'invalid_grant']) {
      const redeemed = `gatehouse_token_requests_total{grant_type="authorization_code",result="${result}"}`;
      expect(await value(test, redeemed)).toMatch(/ 0$/);
    }
  });
});

describe('codes', () => {
  test('B-46 are counted when they are issued, redeemed and reused', async () => {
    const test = await newBrowserServer();
    const code = await newCode(test);
    await redeem(test, code);
    await refusalOf(() => redeem(test, code));
    const counted = ['code_issued', 'code_redeemed', 'code_reused'].map((event) =>
      value(test, `gatehouse_security_events_total{event="${event}"}`),
    );
    expect((await Promise.all(counted)).map((line) => line?.split(' ')[1])).toEqual(['1', '1', '1']);
    const redeemed = 'gatehouse_token_requests_total{grant_type="authorization_code",result="ok"}';
    expect(await value(test, redeemed)).toBe(`${redeemed} 1`);
  });

  test('R-22 B-44 say in the audit trail how the person signed in, also after consent', async () => {
    const test = await newBrowserServer({ clients: [...testOptions.clients, asking] });
    const page = await post(test, await authorize(test));
    const { session } = await decide(test, page, { session: page.session });
    returned(await authorize(test, {}, session));
    const again = await authorize(test, { prompt: 'consent' }, session);
    await decide(test, again, { session: again.session });
    expect(acts(test)).toEqual([
      ['sign_in', 'ok', 'password'],
      ['code_issued', 'ok', 'password'],
      ['code_issued', 'ok', 'session'],
      ['code_issued', 'ok', 'session'],
    ]);
  });
});
