import { describe, expect, test } from 'vitest';
import { createDeviceValues } from '../../../../src/oauth/device/device-request.ts';
import { createMemoryRecords } from '../../../../src/oauth/device/memory-records.ts';
import { refusalOf, until } from '../test-server.ts';
import { askWith, changeUser, newDeviceServer, Person, poll, queryOf } from './device-flow.ts';

const start = async () => {
  const server = await newDeviceServer();
  return { server, person: await new Person(server).signIn(), device: await askWith(server) };
};

/** A code that nobody was given, as far as chance allows: the last letter is another one. */
const otherThan = (code: string): string => `${code.slice(0, -1)}${code.endsWith('B') ? 'C' : 'B'}`;

describe('the page for devices', () => {
  test('D-03 asks a person to sign in first, without a client, and comes back to the same address', async () => {
    const { server, device } = await start();
    const person = new Person(server);
    const query = queryOf(device.verification_uri_complete);
    const page = await person.visit(`${query}&ui_locales=zh&more=nonsense`);
    expect(page).toMatchObject({ kind: 'sign-in', username: '', locales: ['zh'] });
    expect(page).not.toHaveProperty('clientId');
    const wrong = await person.post('signIn', page, { username: 'nobody', password: 'x' });
    expect(wrong).toMatchObject({ kind: 'sign-in', problem: 'incorrect' });
    const answer = await person.post('signIn', wrong, { username: 'alice', password: 'Made-up-1' });
    expect(answer).toMatchObject({ kind: 'redirect', location: `/oauth/device?${query}&ui_locales=zh` });
    person.session = answer.session;
    expect(await person.visit(queryOf(`https://x${(answer as { location: string }).location}`))).toMatchObject({
      kind: 'device',
      locales: ['zh'],
    });
  });

  test('D-03 B-26 asks for a password in place of a first one, and comes back as well', async () => {
    const { server } = await start();
    changeUser(server, { uninitialized: 'true' });
    server.firstPasswords = { set: async () => ({ kind: 'refused', broken: ['short'] }) };
    const person = new Person(server);
    const page = await person.post('signIn', await person.visit('user_code=wdjbmjht'), {
      ...{ username: 'alice', password: 'Made-up-1' },
    });
    expect(page).toMatchObject({ kind: 'new-password', signedIn: 'alice' });
    expect(page).not.toHaveProperty('redirectURI');
    const fields = { password: 'short', repeated: 'short' };
    expect(await person.post('newPassword', page, fields)).toEqual({ ...page, problem: expect.anything() });
    server.firstPasswords = {
      set: async () => {
        changeUser(server, { uninitialized: undefined as never, passwordHash: `$2b$10$${'c'.repeat(53)}` });
        return { kind: 'set' };
      },
    };
    const before = server.clock.pendingTimers;
    const answer = person.post('newPassword', page, { password: 'My-own-1', repeated: 'My-own-1' });
    await until(() => server.clock.pendingTimers > before);
    await server.clock.advance(1000);
    expect(await answer).toMatchObject({ kind: 'redirect', location: '/oauth/device?user_code=WDJB-MJHT' });
  });

  test('D-03 keeps nothing of an address that is not ours', async () => {
    const { server } = await start();
    const page = await new Person(server).visit('user_code=<script>&request=garbage&next=https://evil.example');
    const answer = await new Person(server).post('signIn', page, { username: 'alice', password: 'Made-up-1' });
    expect(answer).toMatchObject({ kind: 'redirect', location: '/oauth/device' });
    expect(await new Person(server).visit('user_code=%zz')).toEqual({ kind: 'fault', fault: 'malformed' });
  });

  test('D-03 begins with the code of the address', async () => {
    const { person } = await start();
    expect(await person.visit('user_code=wdjb-mjht')).toMatchObject({ kind: 'device-code', userCode: 'WDJBMJHT' });
    expect(await person.visit('user_code=nonsense')).toMatchObject({ kind: 'device-code', userCode: '' });
  });

  test('D-03 names client, scopes, the address that asked and since when, once the device polls with the typed code', async () => {
    const { server, person } = await start();
    const device = await askWith(server, { scope: 'openid groups' }, '198.51.100.7');
    await server.clock.advance(115_000);
    const page = await person.typeFor(device);
    expect(page).toMatchObject({
      ...{ kind: 'device', signedIn: 'alice', clientId: 'tv', scopes: ['openid', 'groups'] },
      ...{ address: '198.51.100.7', minutes: 2, userCode: device.user_code },
    });
    expect(await person.decide(page)).toMatchObject({ kind: 'device-done', isAllowed: true });
    expect(await poll(server, device)).toHaveProperty('access_token');
  });

  test('D-03 shows the same at once for the whole address, and writes nothing before the decision', async () => {
    const server = await newDeviceServer();
    const person = await new Person(server).signIn();
    const device = await askWith(server);
    const page = await person.visit(queryOf(device.verification_uri_complete));
    expect(page).toMatchObject({ kind: 'device', clientId: 'tv', userCode: device.user_code, minutes: 0 });
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ code: 'authorization_pending' });
  });

  test('D-03 says that no device asks with a code that nothing polls with, and keeps no record of it', async () => {
    const names = new Set<string>();
    const records = createMemoryRecords();
    records.onChange((name) => (records.get(name) ? names.add(name) : names.delete(name)));
    const server = await newDeviceServer({}, records);
    const person = await new Person(server).signIn();
    const { user_code } = await askWith(server);
    expect(await person.type(user_code)).toMatchObject({
      kind: 'device-code',
      problem: 'unknown',
      userCode: user_code,
    });
    expect(names.size).toBe(0);
  });

  test('D-03 is decided once: the first decision counts', async () => {
    const { server, person, device } = await start();
    changeUser(server, { name: 'bob', uid: 'uid-of-bob' });
    const bob = await new Person(server).signIn('bob');
    const query = queryOf(device.verification_uri_complete);
    const [one, two] = [await person.visit(query), await bob.visit(query)];
    expect(await bob.decide(two, 'deny')).toMatchObject({ kind: 'device-done', isAllowed: false });
    expect(await person.decide(one)).toMatchObject({ kind: 'fault', fault: 'device_over' });
    expect(await person.type(device.user_code)).toMatchObject({ kind: 'device-code', problem: 'unknown' });
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ code: 'access_denied' });
  });

  test('D-03 belongs to the browser and the session that it was made for', async () => {
    const { server, person, device } = await start();
    const page = await person.visit(queryOf(device.verification_uri_complete));
    for (const browser of ['another-browser-123456', ''])
      expect(await person.decide(page, 'allow', browser)).toMatchObject({ kind: 'fault', fault: 'lost_cookie' });
    changeUser(server, { name: 'bob', uid: 'uid-of-bob' });
    const bob = await new Person(server).signIn('bob');
    const path = `/oauth/device?user_code=${device.user_code}`;
    expect(await bob.decide(page)).toMatchObject({ kind: 'redirect', location: path });
    expect(await new Person(server).decide(page)).toMatchObject({ kind: 'redirect', location: path });
    expect(await person.decide({ ...page, request: 'garbage' } as never)).toMatchObject({ fault: 'device_over' });
    expect(await person.decide(await person.visit())).toMatchObject({ fault: 'device_over' });
    expect(await refusalOf(() => poll(server, device))).toMatchObject({ code: 'authorization_pending' });
  });

  test('D-03 has expired after ten minutes, on the page as well', async () => {
    const { server, person, device } = await start();
    const query = queryOf(device.verification_uri_complete);
    await server.clock.advance(300_000);
    const page = await person.visit(query);
    await server.clock.advance(300_000);
    expect(await person.visit(query)).toMatchObject({ kind: 'device-code', problem: 'expired' });
    expect(await person.decide(page)).toMatchObject({ fault: 'device_over' });
  });

  test('D-03 is not for a client that may not have the grant any more', async () => {
    const { server, person } = await start();
    const since = Math.floor(server.clock.now() / 1000);
    const former = { userCode: 'WDJBMJHT', since, sid: 's', clientId: 'console', address: '192.0.2.1' };
    const request = await createDeviceValues(server.keys, server.clock).requests.seal(former, 600);
    expect(await person.visit(`request=${request}`)).toMatchObject({ kind: 'device-code', problem: 'expired' });
  });

  test('D-03 offers another account', async () => {
    const { person, device } = await start();
    const page = await person.visit(queryOf(device.verification_uri_complete));
    const { otherAccount } = page as { otherAccount: string };
    const signIn = await person.visit(queryOf(`https://x${otherAccount}`));
    expect(signIn).toMatchObject({ kind: 'sign-in', username: '', signedIn: 'alice' });
    const answer = await person.post('signIn', signIn, { username: 'alice', password: 'Made-up-1' });
    expect(answer).toMatchObject({ location: `/oauth/device?${queryOf(device.verification_uri_complete)}` });
  });

  test('D-05 takes ten wrong codes of a person in ten minutes, wherever they come from', async () => {
    const { server, person, device } = await start();
    const elsewhere = new Person(server, '198.51.100.9');
    elsewhere.session = person.session;
    for (let one = 0; one < 5; one++) {
      expect(await person.type(otherThan(device.user_code))).toMatchObject({ problem: 'unknown' });
      expect(await elsewhere.type(otherThan(device.user_code))).toMatchObject({ problem: 'unknown' });
    }
    expect(await person.type(device.user_code)).toMatchObject({ problem: 'throttled', retryAfterSeconds: 480 });
    changeUser(server, { name: 'bob', uid: 'uid-of-bob' });
    const bob = await new Person(server, '203.0.113.4').signIn('bob');
    expect(await bob.typeFor(await askWith(server))).toMatchObject({ kind: 'device' });
    await server.clock.advance(600_000);
    expect(await person.typeFor(await askWith(server))).toMatchObject({ kind: 'device' });
  });

  test('D-05 takes ten wrong codes from an address, whoever types them, also all at once', async () => {
    const { server, device } = await start();
    const people = await Promise.all(
      Array.from({ length: 12 }, async (_, one) => {
        changeUser(server, { name: `p${one}`, uid: `uid-${one}` });
        return new Person(server).signIn(`p${one}`);
      }),
    );
    const pages = await Promise.all(people.map((person) => person.visit()));
    const user_code = otherThan(device.user_code);
    const before = server.clock.pendingTimers;
    const answers = people.map((person, at) => person.post('code', pages[at] as never, { user_code }));
    await until(() => server.clock.pendingTimers === before + 10);
    await server.clock.advance(12_000);
    const problems = (await Promise.all(answers)).map((answer) => 'problem' in answer && answer.problem);
    expect(problems.filter((problem) => problem === 'unknown')).toHaveLength(10);
    expect(problems.filter((problem) => problem === 'throttled')).toHaveLength(2);
  });

  test('D-05 does not count what cannot be a code, nor a right one', async () => {
    const { server, person } = await start();
    for (let one = 0; one < 12; one++) expect(await person.type('WDJB')).toMatchObject({ problem: 'malformed' });
    for (let one = 0; one < 12; one++)
      expect(await person.typeFor(await askWith(server, {}, `198.51.100.${one}`))).toMatchObject({ kind: 'device' });
  });
});
