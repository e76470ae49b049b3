import { describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser.ts';
import { eventually, type Pair, passwordOf, type Service } from '../service/stand.ts';
import { claimsOf, startOdd } from './odd-settings.ts';

const MINUTE = 60_000;
const BRIEF = { client_id: 'brief', client_secret: 'made-up-brief' };

const signInBrief = async (service: Service, more = {}): Promise<Pair & { readonly id_token?: string }> =>
  (
    await service.call('/oauth/token', {
      form: { grant_type: 'password', ...BRIEF, username: 'ada', password: passwordOf('ada'), ...more },
    })
  ).body;

const lifeOf = (token: string): number => Number(claimsOf(token)['exp']) - Number(claimsOf(token)['iat']);

/** Ada's browser, which has signed in for the client `site`; `visit` is the status of a further request of the client. */
async function startBrowser() {
  const { service, clock } = await startOdd();
  const request = new URLSearchParams({ client_id: 'site', response_type: 'code', scope: 'profile' });
  const url = new URL(`${service.gatehouse.origin}/oauth/authorize?${request}`);
  const browser = new Browser();
  const form = { username: 'ada', password: passwordOf('ada') };
  expect((await browser.submit(await browser.open(url), form)).status).toBe(303);
  return { clock, visit: async () => (await browser.open(url)).status };
}

describe('configured lifetimes', () => {
  test('authentication.oauthOptions.accessTokenMaxAge: a token is good for 431 s', async () => {
    const { service } = await startOdd();
    const pair = await service.signIn('ada');
    expect([pair.expires_in, lifeOf(pair.access_token)]).toEqual([431, 431]);
  });

  test('authentication.oauthOptions.accessTokenInactivityTimeout: a refresh token is good for 187 s more', async () => {
    const { service, clock } = await startOdd();
    const [first, second] = [await service.signIn('ada'), await service.signIn('ada')];
    expect(lifeOf(first.refresh_token)).toBe(431 + 187);
    clock.jumpWall((431 + 187 + 3) * 1_000);
    expect((await service.refresh(first.refresh_token)).status).toBe(200);
    clock.jumpWall(2_000);
    expect((await service.refresh(second.refresh_token)).status).toBe(400);
  });

  test('authentication.oauthOptions.sessionMaxAge: no token outlives 1,003 s from the sign-in', async () => {
    const { service, clock } = await startOdd();
    let { refresh_token: token } = await service.signIn('ada');
    const start = Number(claimsOf(token)['auth_time']);
    for (const seconds of [400, 400]) {
      clock.jumpWall(seconds * 1_000);
      token = (await service.refresh(token)).body.refresh_token;
    }
    expect(Number(claimsOf(token)['exp']) - start).toBe(1_003);
    clock.jumpWall(208_000);
    expect((await service.refresh(token)).status).toBe(400);
  });

  test('authentication.oauthOptions.browserSessionIdle: a browser that comes again within 489 s needs no password', async () => {
    const { clock, visit } = await startBrowser();
    clock.jumpWall(487_000);
    expect(await visit()).toBe(303);
    clock.jumpWall(490_000);
    expect(await visit()).toBe(200);
  });

  test('authentication.oauthOptions.browserSessionMaxAge: the password is asked for again after 781 s', async () => {
    const { clock, visit } = await startBrowser();
    clock.jumpWall(390_000);
    expect(await visit()).toBe(303);
    clock.jumpWall(389_000);
    expect(await visit()).toBe(303);
    clock.jumpWall(3_000);
    expect(await visit()).toBe(200);
  });

  test('authentication.oauthOptions.clients[].accessTokenMaxAge: that of one client is 309 s', async () => {
    const { service } = await startOdd();
    const pair = await signInBrief(service);
    expect([pair.expires_in, lifeOf(pair.access_token)]).toEqual([309, 309]);
  });

  test('authentication.oauthOptions.clients[].accessTokenInactivityTimeout: and 123 s more', async () => {
    const { service } = await startOdd();
    expect(lifeOf((await signInBrief(service)).refresh_token)).toBe(309 + 123);
  });

  test('authentication.oauthOptions.clients[].idTokenMaxAge: an ID token of that client is good for 245 s', async () => {
    const { service } = await startOdd();
    const { id_token = '' } = await signInBrief(service, { scope: 'openid' });
    expect(lifeOf(id_token)).toBe(245);
  });

  test('authentication.maximumClockSkew: a token that expired 3 s ago is taken, 5 s ago is not', async () => {
    const { service, clock } = await startOdd();
    const [fresh, known] = [(await service.signIn('ada')).access_token, (await service.signIn('ada')).access_token];
    expect((await service.list(known)).status).toBe(200);
    clock.jumpWall(434_000);
    expect([(await service.list(known)).status, (await service.list(fresh)).status]).toEqual([200, 200]);
    clock.jumpWall(2_000);
    const { access_token: later } = await service.signIn('ada');
    expect([(await service.list(known)).status, (await service.list(fresh)).status]).toEqual([401, 401]);
    clock.jumpWall(-3_000);
    expect((await service.list(later)).status).toBe(200);
    clock.jumpWall(-3_000);
    const { access_token: early } = await service.signIn('ada');
    clock.jumpWall(-5_000);
    expect((await service.list(early)).status).toBe(401);
  });

  test('authentication.oauthOptions.refreshReplayWindow: the same pair comes again for 9 s', async () => {
    const { service, clock } = await startOdd();
    const { refresh_token: token } = await service.signIn('ada');
    const first = await service.refresh(token);
    clock.jumpWall(8_000);
    expect((await service.refresh(token)).body.refresh_token).toBe(first.body.refresh_token);
    clock.jumpWall(2_000);
    expect((await service.refresh(token)).status).toBe(400);
    expect((await service.refresh(first.body.refresh_token)).status).toBe(400);
  });

  test('authentication.oauthOptions.keyRotationPeriod: another key is published in time for 113 minutes', async () => {
    const { service, clock } = await startOdd();
    const keys = async (): Promise<unknown[]> => (await service.call('/oauth/keys')).body.keys;
    // Published 15 minutes before its use, and two looks of 75 s earlier.
    clock.jumpWall((113 - 15 - 2.5) * MINUTE - 95_000);
    await clock.advance(80_000);
    expect(await keys()).toHaveLength(1);
    clock.jumpWall(MINUTE);
    await clock.until(keys, (published) => published.length === 2);
  });

  test('server.shutdownDelay: the port stays open for 7 s', async () => {
    const { service, clock } = await startOdd();
    const stopping = service.gatehouse.stop();
    const version = (): Promise<number> =>
      service.call('/version', { headers: { connection: 'close' } }).then(
        ({ status }) => status,
        () => 0,
      );
    await clock.advance(6_999);
    expect([await version(), (await service.call('/readyz')).status]).toEqual([200, 503]);
    await clock.advance(1);
    await eventually(version, (status) => status === 0);
    await clock.during(stopping);
  });

  test('server.streamDrain: a followed log has 37 s from then on', async () => {
    const { service, cluster, clock } = await startOdd({ config: { gateway: { enabled: true } } });
    cluster.faults.until({ subresource: 'log' }, { connection: 'silence' });
    const { access_token: token } = await service.signIn('ada');
    let status: number | undefined;
    const log = service
      .call('/api/v1/namespaces/a/pods/p/log?follow=true', { token })
      .then((answer) => (status = answer.status));
    await eventually(
      () => service.metric('gatehouse_gateway_streams{kind="log"}'),
      (count) => count === 1,
    );
    const stopping = service.gatehouse.stop();
    await clock.advance(7_000 + 36_999);
    expect(status).toBe(undefined);
    await clock.advance(1);
    expect(await log).toBe(503);
    await clock.during(stopping);
  });
});
