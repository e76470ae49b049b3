import { describe, expect, test } from 'vitest';
import type { BrowserSession } from '../../../../src/oauth/authorize/browser-session.ts';
import { createLastingValues } from '../../../../src/oauth/authorize/sealed-values.ts';
import { createDeviceValues } from '../../../../src/oauth/device/device-request.ts';
import { withCutOff, withSessionEnded } from '../../../../src/oauth/sessions/session-rules.ts';
import { partsOf, refresh, refusalOf, type TestServer } from '../test-server.ts';
import { askWith, changeUser, newDeviceServer, Person, poll } from './device-flow.ts';

const NOT_VALID = { status: 400, code: 'invalid_grant', description: 'the device code is not valid' };
const PENDING = { status: 400, code: 'authorization_pending' };

const start = async (change = {}) => {
  const server = await newDeviceServer(change);
  return { server, person: await new Person(server).signIn(), device: await askWith(server) };
};

/** The id of the session that the cookie of this person has. */
function browserSessionOf({ keys, clock }: TestServer, { session = '' }: Person): string {
  return createLastingValues<BrowserSession>('browser session', keys, clock).open(session)?.sid ?? '';
}

const linesOf = ({ lines }: TestServer, event: string) => lines.filter((line) => line['event'] === event);

describe('the device grant', () => {
  test('D-04 gives the tokens of the person once, in a session of their own, by one write of the session', async () => {
    const { server, person, device } = await start();
    await server.clock.advance(20_000);
    expect(await refusalOf(() => poll(server, device))).toMatchObject(PENDING);
    expect(await person.allow(device)).toMatchObject({ kind: 'device-done', isAllowed: true, clientId: 'tv' });
    const tokens = await poll(server, device);
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 7200, scope: 'openid' });
    expect(server.sessions.writes).toBe(1);
    const [, access] = partsOf(tokens.access_token);
    expect(access).toMatchObject({ sub: 'alice', client_id: 'tv' });
    expect(access?.['sid']).not.toContain('~');
    const [, id] = partsOf(tokens.id_token as string);
    expect(id).toMatchObject({ sub: 'alice', aud: 'tv' });
    expect(Number(id?.['iat']) - Number(id?.['auth_time'])).toBe(20);
    expect(linesOf(server, 'device_authorized')).toMatchObject([
      { result: 'ok', user: 'alice', clientId: 'tv', sid: access?.['sid'], asked: '192.0.2.1' },
    ]);
    expect(linesOf(server, 'device_redeemed')).toMatchObject([{ result: 'ok', user: 'alice', clientId: 'tv' }]);
  });

  test('D-04 refuses the second time, and ends the session, because the code may be in other hands', async () => {
    const { server, person, device } = await start();
    await person.allow(device);
    const tokens = await poll(server, device);
    expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
    expect(server.verifier.verify(tokens.access_token)).toEqual({ fault: 'revoked' });
    expect(linesOf(server, 'device_redeemed').at(-1)).toMatchObject({ result: 'refused', reason: 'used_before' });
    const writes = server.sessions.writes;
    expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
    expect(server.sessions.writes).toBe(writes);
  });

  test('D-04 gives tokens to one of fifty polls at the same time', async () => {
    const { server, person, device } = await start();
    await person.allow(device);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => poll(server, device)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('D-04 gives nothing to another device with an equal code', async () => {
    const { server, person, device } = await start();
    const userCode = device.user_code.replace('-', '');
    const since = Math.floor(server.clock.now() / 1000);
    const twin = { userCode, since, sid: 'another', clientId: 'tv', address: '198.51.100.1' };
    const device_code = createDeviceValues(server.keys, server.clock).codes.seal(twin, 600);
    await person.allow(device);
    expect(await refusalOf(() => poll(server, { device_code }))).toMatchObject(PENDING);
    expect(await poll(server, device)).toHaveProperty('access_token');
    expect(await refusalOf(() => poll(server, { device_code }))).toMatchObject({ code: 'slow_down' });
  });

  test('D-04 tells the device that the person has refused, once', async () => {
    const { server, person, device } = await start();
    expect(await person.allow(device, 'deny')).toMatchObject({ kind: 'device-done', isAllowed: false });
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ status: 400, code: 'access_denied' });
    expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
    expect([linesOf(server, 'device_refused').length, server.sessions.writes]).toEqual([1, 0]);
    expect(await person.allow(device)).toMatchObject({ kind: 'fault', fault: 'device_over' });
  });

  test('D-04 says that the code has expired after ten minutes, and forgets it after an hour more', async () => {
    const { server, person, device } = await start();
    await person.allow(device);
    await server.clock.advance(600_000);
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ status: 400, code: 'expired_token' });
    await server.clock.advance(3_601_000);
    expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
  });

  test('D-04 tells a device that polls too fast to slow down, five seconds more each time', async () => {
    const { server, person, device } = await start();
    const pollAfter = async (ms: number) => {
      await server.clock.advance(ms);
      return (await refusalOf(() => poll(server, device))).code;
    };
    expect(await pollAfter(0)).toBe('authorization_pending');
    expect(await pollAfter(5000)).toBe('authorization_pending');
    expect(await pollAfter(3900)).toBe('slow_down');
    expect(await pollAfter(8900)).toBe('slow_down');
    expect(await pollAfter(10_000)).toBe('slow_down');
    expect(await pollAfter(19_100)).toBe('authorization_pending');
    await person.allow(device);
    expect(await poll(server, device)).toHaveProperty('access_token'); // what is decided is told at once
  });

  test.each<[string, Record<string, string>]>([
    ['garbage', { device_code: 'garbage' }],
    ['five empty parts', { device_code: '....' }],
    ['a long text', { device_code: 'x'.repeat(20_000) }],
    ['that of another client', { client_id: 'box', client_secret: 'made-up-secret-of-box' }],
  ])('D-04 refuses %s, and the code is still good', async (_, form) => {
    const { server, person, device } = await start();
    await person.allow(device);
    expect(await refusalOf(() => poll(server, device, form))).toMatchObject(NOT_VALID);
    expect(await poll(server, device)).toHaveProperty('access_token');
  });

  test('D-06 is refused to a client that may not have the grant any more', async () => {
    const { server, person, device } = await start();
    await person.allow(device);
    expect(await refusalOf(() => poll(server, device, { client_id: 'closed' }))).toMatchObject({
      status: 400,
      code: 'unauthorized_client',
    });
  });

  test('D-04 wants a device code', async () => {
    const { server } = await start();
    expect(await refusalOf(() => poll(server, { device_code: '' }))).toMatchObject({
      code: 'invalid_request',
      description: 'the parameter device_code is missing',
    });
  });

  test('D-04 is not touched by a failed client authentication', async () => {
    const server = await newDeviceServer();
    const person = await new Person(server).signIn();
    const box = { client_id: 'box', client_secret: 'made-up-secret-of-box' };
    const device = await askWith(server, box);
    await person.allow(device);
    expect(await refusalOf(() => poll(server, device, { ...box, client_secret: 'wrong' }))).toMatchObject({
      code: 'invalid_client',
    });
    expect(await poll(server, device, box)).toHaveProperty('access_token');
  });

  test.each<[string, (server: TestServer) => void]>([
    ['has another password', (server) => changeUser(server, { passwordHash: `$2b$10$${'b'.repeat(53)}` })],
    ['is disabled', (server) => changeUser(server, { state: 'Disabled' })],
    ['is another user of the same name', (server) => changeUser(server, { uid: 'uid-of-another' })],
    ['is gone', (server) => void server.users.delete('alice')],
  ])('D-04 gives nothing if the person %s since', async (_, change) => {
    const { server, person, device } = await start();
    await person.allow(device);
    change(server);
    expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
    expect(linesOf(server, 'device_redeemed').at(-1)).toMatchObject({ reason: 'user_changed' });
  });

  test('D-04 gives nothing if the person has signed out everywhere since', async () => {
    const { server, person, device } = await start();
    const old = await poll(server, await allowed(server, person));
    await person.allow(device);
    await server.clock.advance(1000);
    const origin = { source: '192.0.2.1', requestId: 'r' };
    const authorization = `Bearer ${old.access_token}`;
    await server.server.logout({ ...origin, method: 'GET', queryString: 'all=true', authorization });
    const result = refusalOf(() => poll(server, device));
    await server.clock.advance(1000);
    expect(await result).toMatchObject(NOT_VALID);
  });

  test.each<[string, (server: TestServer, at: number, sid: string) => unknown]>([
    [
      'of all sessions',
      ({ sessions }, at) =>
        sessions.update('alice', (now) => ({
          next: withCutOff(now, { at, keepUntil: at + 86_400 }),
          outcome: undefined,
        })),
    ],
    [
      'of the session of the browser',
      ({ sessions }, at, sid) =>
        sessions.update('alice', (now) => ({
          next: withSessionEnded(now, sid, { endedAt: at, keepUntil: at + 86_400 }),
          outcome: undefined,
        })),
    ],
    ['of earlier sessions by the account', (server, at) => changeUser(server, { tokensNotBefore: at })],
  ])(
    'D-04 gives nothing after the end %s, even if the replica that took the decision did not know yet',
    async (_, end) => {
      const { server, person, device } = await start();
      const sid = browserSessionOf(server, person);
      await server.clock.advance(60_000);
      await person.allow(device);
      await end(server, Math.floor(server.clock.now() / 1000) - 10, sid);
      expect(await refusalOf(() => poll(server, device))).toMatchObject(NOT_VALID);
      expect(linesOf(server, 'device_redeemed').at(-1)).toMatchObject({ result: 'refused', reason: 'user_changed' });
    },
  );

  test('D-04 gives tokens although the browser was signed out after the decision', async () => {
    const { server, person, device } = await start();
    const sid = browserSessionOf(server, person);
    await person.allow(device);
    const endedAt = Math.floor(server.clock.now() / 1000);
    await server.sessions.update('alice', (now) => ({
      next: withSessionEnded(now, sid, { endedAt, keepUntil: endedAt + 86_400 }),
      outcome: undefined,
    }));
    expect(await poll(server, device)).toHaveProperty('access_token');
  });

  test('D-04 can be polled again after a write that failed', async () => {
    const { server, person, device } = await start();
    await person.allow(device);
    server.sessions.writeFault = new Error('the API server is away');
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ status: 503, code: 'server_error' });
    server.sessions.writeFault = undefined;
    expect(await poll(server, device)).toHaveProperty('access_token');
  });

  test('D-04 ends the other sessions with the same write when each user has one', async () => {
    const { server, person, device } = await start({ multipleLogin: false });
    const other = await poll(server, await allowed(server, person));
    await server.clock.advance(2000);
    await person.signIn();
    await person.allow(device);
    const tokens = await poll(server, device);
    expect(server.verifier.verify(other.access_token)).toEqual({ fault: 'revoked' });
    expect(server.verifier.verify(tokens.access_token)).toHaveProperty('identity');
  });

  test('D-04 gives a session that is refreshed as any other', async () => {
    const { server, person } = await start();
    const box = { client_id: 'box', client_secret: 'made-up-secret-of-box' };
    const device = await askWith(server, box);
    await person.allow(device);
    const { refresh_token } = await poll(server, device, box);
    expect(await refusalOf(() => refresh(server, refresh_token))).toMatchObject({ code: 'invalid_grant' }); // another client
  });

  test('D-04 leaves no line in the audit trail for a poll that has nothing to fetch', async () => {
    const { server, device } = await start();
    const before = server.lines.length;
    for (let one = 0; one < 5; one++) await refusalOf(() => poll(server, device));
    await server.clock.advance(600_000);
    await refusalOf(() => poll(server, device));
    expect(server.lines.slice(before)).toEqual([]);
    await refusalOf(() => poll(server, { device_code: 'garbage' }));
    expect(linesOf(server, 'device_redeemed')).toMatchObject([{ result: 'refused', reason: 'invalid_grant' }]);
  });
});

/** A device that the person has allowed. */
async function allowed(server: TestServer, person: Person) {
  const device = await askWith(server);
  await person.allow(device);
  return device;
}
