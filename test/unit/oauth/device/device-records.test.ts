import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createDeviceRecords, type DeviceRecords } from '../../../../src/oauth/device/device-records.ts';
import type { DeviceRequest } from '../../../../src/oauth/device/device-request.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { MemorySecretRecords } from '../../../support/accounts/memory-secret-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { until } from '../test-server.ts';

const CODE = 'WDJBMJHT';
const SECRET = Buffer.alloc(32, 7);
const signal = new AbortController().signal;

function replicas(count = 1) {
  const clock = new FakeClock();
  const records = new MemorySecretRecords();
  const keys: { digestKey: () => Buffer | undefined } = { digestKey: () => SECRET };
  const logger = pino({ level: 'silent' });
  const parts = { records, keys, clock, logger, random: systemRandom };
  const all = Array.from({ length: count }, () => createDeviceRecords('gatehouse-device-codes-', parts));
  const device = (sid: string): DeviceRequest => ({
    ...{ sid, clientId: 'tv', address: '192.0.2.1', since: Math.floor(clock.now() / 1000) },
  });
  const decision = (user = 'alice', isAllowed = true) => ({
    ...{ user, isAllowed, standing: 'digest', browserSid: 'b-1', authTime: 1, at: Math.floor(clock.now() / 1000) },
  });
  return { clock, records, keys, all, one: all[0] as DeviceRecords, two: all[1] as DeviceRecords, device, decision };
}

/** 8 letters for each number below 20^4. */
const codeOf = (number: number): string =>
  [...number.toString(20).padStart(8, '0')].map((digit) => 'BCDFGHJKLMNPQRSTVWXZ'[Number.parseInt(digit, 20)]).join('');

describe('the records of devices', () => {
  test('D-03 claims a code, shows the first device that polls with it, and keeps the decision about that one', async () => {
    const { one, two, device, decision } = replicas(2);
    expect(await one.claim(CODE, 'alice')).toBe('claimed');
    const found = one.attached(CODE, 12_000, signal);
    await two.attach(CODE, device('s-1'));
    await two.attach(CODE, device('s-2')); // an equal code, by chance
    expect(await found).toMatchObject({ sid: 's-1' });
    expect(await one.decide(CODE, device('s-2'), decision())).toBe('over');
    expect(await one.decide(CODE, device('s-1'), decision())).toBe('decided');
    expect(two.read(CODE)).toMatchObject({ device: { sid: 's-1' }, decision: { isAllowed: true } });
    expect(await two.decide(CODE, device('s-1'), decision('bob', false))).toBe('over');
  });

  test('D-03 is not attached where nobody has typed the code', async () => {
    const { one, device, records } = replicas();
    await one.attach(CODE, device('s-1'));
    expect([...records.names()]).toEqual([]);
  });

  test('D-03 waits for a device no longer than it may, or than the person does', async () => {
    const { one, clock } = replicas();
    await one.claim(CODE, 'alice');
    const found = one.attached(CODE, 12_000, signal);
    await clock.advance(12_000);
    expect(await found).toBeUndefined();
    const gone = new AbortController();
    const other = one.attached(CODE, 12_000, gone.signal);
    gone.abort();
    expect(await other).toBeUndefined();
    await one.unclaim(CODE);
    expect(one.read(CODE)).toBeUndefined();
  });

  test('D-03 does not take back a claim to which a device came at the last moment', async () => {
    const { one, device } = replicas();
    await one.claim(CODE, 'alice');
    await one.attach(CODE, device('s-1'));
    await one.unclaim(CODE);
    expect(one.read(CODE)).toMatchObject({ device: { sid: 's-1' } });
  });

  test('D-03 takes one of two decisions that two replicas write at the same time', async () => {
    const { all, device, decision, clock } = replicas(2);
    const both = all.map((replica, at) => replica.decide(CODE, device('s-1'), decision(`user-${at}`)));
    for (let turn = 0; turn < 8; turn++) await clock.advance(50);
    expect((await Promise.all(both)).sort()).toEqual(['decided', 'over']);
  });

  test('D-04 is known to have been fetched on every replica', async () => {
    const { one, two, device, decision } = replicas(2);
    await one.decide(CODE, device('s-1'), decision());
    expect(two.past('s-1')).toBeUndefined();
    await one.fetched(CODE);
    expect([one.past('s-1'), two.past('s-1')]).toEqual([{ user: 'alice' }, { user: 'alice' }]);
    expect(await two.decide(CODE, device('s-1'), decision())).toBe('over');
  });

  test('D-03 ends after ten minutes, and is removed within two more', async () => {
    const { one, clock, records, device, decision } = replicas();
    const stop = new AbortController();
    const running = one.run(stop.signal);
    await one.decide(CODE, device('s-1'), decision());
    await clock.advance(599_000);
    expect(one.read(CODE)).toBeDefined();
    await clock.advance(1000);
    expect(one.read(CODE)).toBeUndefined();
    for (let minute = 0; minute < 4; minute++) await clock.advance(30_000);
    await until(() => [...records.names()].length === 0);
    stop.abort();
    await running;
  });

  test('D-03 replaces a record that has ended but is still there', async () => {
    const { one, clock, device, decision } = replicas();
    await one.decide(CODE, device('s-1'), decision());
    await clock.advance(600_000);
    expect(await one.claim(CODE, 'bob')).toBe('claimed');
    expect(one.read(CODE)).toEqual({ user: 'bob', endsAt: expect.any(Number) });
  });

  test('D-03 are 20 of a person and 1,000 in all', async () => {
    const { one, clock, device, decision } = replicas();
    for (let code = 0; code < 20; code++) expect(await one.claim(codeOf(code), 'alice')).toBe('claimed');
    expect(await one.claim(codeOf(20), 'alice')).toBe('full');
    expect(await one.decide(codeOf(20), device('s-1'), decision())).toBe('full');
    expect(await one.claim(codeOf(0), 'alice')).toBe('claimed');
    for (let code = 20; code < 1000; code++) await one.claim(codeOf(code), `user-${code}`);
    expect(await one.claim(codeOf(1000), 'bob')).toBe('full');
    expect(await one.decide(codeOf(0), device('s-1'), decision())).toBe('decided');
    await clock.advance(600_000);
    expect(await one.claim(codeOf(1000), 'bob')).toBe('full'); // until they are removed
  });

  test('D-03 has no code in the name of its Secret, nor in it', async () => {
    const { one, records, device, decision } = replicas();
    await one.decide(CODE, device('s-1'), decision());
    const [name = ''] = records.names();
    expect(name).toMatch(/^gatehouse-device-codes-[0-9a-f]{40}$/);
    expect(records.get(name)?.data['record.json']?.toString()).not.toContain(CODE);
  });

  test('D-03 counts a record that none of us has written as absent, and removes it', async () => {
    const { one, records, clock, device, decision } = replicas();
    await one.decide(codeOf(7), device('s-7'), decision());
    const [other = ''] = records.names();
    const decided = records.get(other)?.data ?? {};
    await one.claim(CODE, 'alice');
    const name = [...records.names()].find((each) => each !== other) ?? '';
    const { 'record.json': json = Buffer.alloc(0), mac = Buffer.alloc(0) } = records.get(name)?.data ?? {};
    const forged = Buffer.from(json.toString().replace('alice', 'admin'));
    const bad = [{}, { 'record.json': json }, { mac }, { 'record.json': forged, mac }, decided];
    for (const data of bad) {
      records.put(name, data);
      expect([data, one.read(CODE)]).toEqual([data, undefined]);
    }
    const stop = new AbortController();
    void one.run(stop.signal);
    for (let minute = 0; minute < 4; minute++) await clock.advance(30_000);
    await until(() => [...records.names()].join() === other);
    stop.abort();
  });

  test('D-03 reads what was there before the keys were loaded, and removes nothing until then', async () => {
    const { one, records, clock, device, decision, keys } = replicas();
    await one.decide(CODE, device('s-1'), decision());
    const key = keys.digestKey;
    keys.digestKey = () => undefined;
    const parts = { records, keys, clock, logger: pino({ level: 'silent' }), random: systemRandom };
    const late = createDeviceRecords('gatehouse-device-codes-', parts);
    const [name = ''] = records.names();
    records.put(name, { ...records.get(name)?.data }); // the first list
    expect(() => late.read(CODE)).toThrow(expect.objectContaining({ message: 'no device can sign in now' }));
    const stop = new AbortController();
    void late.run(stop.signal);
    for (let minute = 0; minute < 4; minute++) await clock.advance(30_000);
    stop.abort();
    keys.digestKey = key;
    expect(late.read(CODE)).toMatchObject({ decision: { user: 'alice' } });
  });
});
