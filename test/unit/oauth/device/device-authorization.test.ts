import { describe, expect, test } from 'vitest';
import { IssueLimit } from '../../../../src/oauth/device/issue-limit.ts';
import { createMemoryRecords } from '../../../../src/oauth/device/memory-records.ts';
import { newUserCode, readUserCode, shownUserCode } from '../../../../src/oauth/device/user-code.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { formRequest, newTestServer, refusalOf } from '../test-server.ts';
import { askWith, newDeviceServer, Person, poll, queryOf } from './device-flow.ts';

/** Records that count what is written. */
function countedRecords() {
  const records = createMemoryRecords();
  const writes: string[] = [];
  const counted = (name: 'create' | 'update' | 'remove') =>
    ((...given: [string, never, never]) => {
      writes.push(name);
      return records[name](...given);
    }) as never;
  return {
    writes,
    records: { ...records, create: counted('create'), update: counted('update'), remove: counted('remove') },
  };
}

describe('the device authorization endpoint', () => {
  test('D-01 answers with two codes, the address of the page, and how often to poll', async () => {
    const server = await newDeviceServer();
    const answer = await askWith(server, { scope: 'openid nonsense openid profile' });
    expect(Object.keys(answer)).toEqual(
      'device_code user_code verification_uri verification_uri_complete expires_in interval'.split(' '),
    );
    expect(answer).toMatchObject({
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'https://gatehouse.example.com/oauth/device',
      expires_in: 600,
      interval: 5,
    });
    expect(answer.verification_uri_complete).toContain(`/oauth/device?user_code=${answer.user_code}&request=`);
    expect(answer.verification_uri_complete.length).toBeLessThan(900);
  });

  test('D-01 writes nothing for a thousand anonymous requests and their polls', async () => {
    const { records, writes } = countedRecords();
    const server = await newDeviceServer({}, records);
    const issued = [];
    for (let one = 0; one < 1000; one++) issued.push(await askWith(server, {}, `192.0.2.${one % 250}`));
    for (const device of issued.slice(0, 10))
      expect(await refusalOf(() => poll(server, device))).toMatchObject({ code: 'authorization_pending' });
    expect([writes.length, server.sessions.writes]).toEqual([0, 0]);
    expect(new Set(issued.map(({ user_code }) => user_code)).size).toBe(1000);
    expect(server.lines).toEqual([]);
  });

  test('D-01 wants the client to authenticate as at the token endpoint', async () => {
    const server = await newDeviceServer();
    const wrong = { client_id: 'box', client_secret: 'wrong' };
    expect(await refusalOf(() => askWith(server, wrong))).toMatchObject({ status: 401, code: 'invalid_client' });
    expect(server.lines.at(-1)).toMatchObject({ event: 'client_refused', endpoint: 'device_authorization' });
    const right = { client_id: 'box', client_secret: 'made-up-secret-of-box' };
    expect(await askWith(server, right)).toHaveProperty('device_code');
  });

  test('D-06 is for clients that have the grant type, and there is none without such a client', async () => {
    const server = await newDeviceServer();
    const other = { client_id: 'console', client_secret: 'made-up-secret' };
    const refusal = { status: 400, code: 'unauthorized_client' };
    expect(await refusalOf(() => askWith(server, other))).toMatchObject(refusal);
    expect(await refusalOf(() => poll(server, { device_code: 'x' }, other))).toMatchObject(refusal);
    expect(await refusalOf(() => askWith(server, { client_id: 'closed' }))).toMatchObject(refusal);
    const without = await newTestServer();
    expect(without.server.devices).toBeUndefined();
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', ...other };
    expect(await refusalOf(() => without.server.token(formRequest(form)))).toMatchObject({
      code: 'unsupported_grant_type',
    });
    expect(JSON.parse(without.server.metadata().body.toString())).not.toHaveProperty('device_authorization_endpoint');
    const metadata = JSON.parse(server.server.metadata().body.toString());
    expect(metadata).toMatchObject({
      device_authorization_endpoint: 'https://gatehouse.example.com/oauth/device_authorization',
      grant_types_supported: expect.arrayContaining([form.grant_type]),
    });
  });

  test('D-05 issues 20 codes to an address in ten minutes', async () => {
    const server = await newDeviceServer();
    for (let one = 0; one < 20; one++) await askWith(server);
    await server.clock.advance(1000);
    const refusal = { status: 429, code: 'temporarily_unavailable', headers: { 'Retry-After': '599' } };
    expect(await refusalOf(() => askWith(server))).toMatchObject(refusal);
    expect(await askWith(server, {}, '198.51.100.1')).toHaveProperty('device_code');
    await server.clock.advance(599_000);
    expect(await askWith(server)).toHaveProperty('device_code');
  });

  test('D-05 issues 4,000 codes in ten minutes to all addresses together', async () => {
    const clock = new FakeClock();
    const limit = new IssueLimit(clock);
    for (let one = 0; one < 4000; one++) expect(limit.take(`192.0.2.${one}`)).toBe(0);
    await clock.advance(1000);
    expect(limit.take('198.51.100.1')).toBe(599_000);
    await clock.advance(599_000);
    expect(limit.take('198.51.100.1')).toBe(0);
  });

  test('D-01 cannot be polled with what the address carries, nor allowed by the device code', async () => {
    const server = await newDeviceServer();
    const device = await askWith(server);
    const request = new URLSearchParams(queryOf(device.verification_uri_complete)).get('request') ?? '';
    expect(await refusalOf(() => poll(server, { device_code: request }))).toMatchObject({ code: 'invalid_grant' });
    const person = await new Person(server).signIn();
    expect(await person.visit(`request=${device.device_code}`)).toMatchObject({
      kind: 'device-code',
      problem: 'expired',
    });
  });
});

describe('a user code', () => {
  test.each(['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ', 'W D J B – M J H T', 'wdjb‐mjht', '\tWDJB  -- MJHT\n'])(
    'D-02 is read without regard to case, blanks and dashes: %j',
    (typed) => expect(readUserCode(typed)).toBe('WDJBMJHT'),
  );

  test.each(['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJB-MJHA', 'WDJB_MJHT', 'WDJB-MJH1', 'ＷDJB-MJHT', 'ſſſſ-ſſſſ'])(
    'D-02 has eight letters of twenty: %j is none',
    (typed) => expect(readUserCode(typed)).toBeUndefined(),
  );

  test('D-02 has every letter as often as any other', () => {
    let byte = 240;
    const random = {
      ...systemRandom,
      bytes: (length: number) => Buffer.from(Array.from({ length }, () => byte++ % 256)),
    };
    const letters = Array.from({ length: 30 }, () => newUserCode(random)).join('');
    const counts = Map.groupBy(letters, (letter) => letter);
    expect([...counts].map(([, all]) => all.length)).toEqual(Array<number>(20).fill(12)); // of 256 bytes 240 count
  });

  test('D-02 is shown in two groups', () => expect(shownUserCode('WDJBMJHT')).toBe('WDJB-MJHT'));
});
