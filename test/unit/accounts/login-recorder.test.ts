import { describe, expect, test } from 'vitest';
import { createLoginRecorder } from '../../../src/accounts/records/login-recorder.ts';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import { WriteThrottle } from '../../../src/accounts/states/write-throttle.ts';
import { asObject } from '../../../src/runtime/text/json-value.ts';
import type { SignInOutcome } from '../../../src/users/sign-in.ts';
import type { User } from '../../../src/users/user.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';
import { MemoryUserRecords, NAMES } from '../../support/accounts/memory-user-records.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const quiet = { info: () => {}, warn: () => {}, debug: () => {} } as never;

function start() {
  const clock = new FakeClock();
  const users = new MemoryUserRecords();
  const [objects, records] = [new MemoryObjects(), new MemoryObjects()];
  objects.onChange = (name, object) => (object ? users.putObject(object) : users.delete(name));
  const counts = { written: 0, dropped: 0 };
  let drawn = 0;
  const recorder = createLoginRecorder({
    ...{ names: NAMES, users, records, clock, logger: quiet, patchStatus: createStatusPatch(objects) },
    writeThrottle: new WriteThrottle(clock),
    counted: { inc: ({ result }) => void counts[result]++ },
    random: { bytes: (length) => Buffer.alloc(length, ++drawn), fraction: () => 0 },
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  const made = (name: string, status: object = { state: 'Active' }): void =>
    void objects.put({ metadata: { name, uid: `uid-${name}`, resourceVersion: '' }, status } as never);
  made('alice');
  const record = (outcome: SignInOutcome['outcome'], change: Partial<SignInOutcome> & { name?: string } = {}): void => {
    const { name = 'alice', ...rest } = change;
    const user: User = { name, uid: `uid-${name}`, groups: [], state: 'Active', isObject: true };
    recorder.record({ user, outcome, address: '192.0.2.1', userAgent: 'test/1', ...rest });
  };
  const specs = () => records.all().map((one) => one['spec'] as Record<string, unknown>);
  const lastLogin = (): unknown => asObject(objects.peek('alice')?.['status'])['lastLoginTime'];
  return { clock, objects, records, counts, made, record, specs, lastLogin };
}

describe('a login record', () => {
  test('of a success has every member, and comes once for a user and an address in 10 s', async () => {
    const { clock, records, record } = start();
    for (let attempt = 0; attempt < 3; attempt++) record('succeeded', { address: '2001:db8::5' });
    record('succeeded', { address: '192.0.2.2' });
    await clock.advance(1000);
    record('succeeded', { address: '192.0.2.2' });
    await clock.advance(1000);
    expect(records.all()).toHaveLength(2);
    expect(records.all()[0]).toMatchObject({
      metadata: { name: 'alice-0101010101', labels: { 'iam.gatehouse.io/user-ref': 'alice' } },
      spec: {
        ...{ type: 'Token', provider: '', success: true, reason: 'authenticated successfully' },
        ...{ sourceIP: '2001:db8::5', userAgent: 'test/1' },
      },
    });
    await clock.advance(10_000);
    record('succeeded', { address: '192.0.2.2' });
    await clock.advance(1000);
    expect(records.all()).toHaveLength(3);
  });

  test('of failures comes once for a user in 10 s, with their number and the last address', async () => {
    const { clock, record, specs } = start();
    for (let attempt = 0; attempt < 36; attempt++) record('incorrect_password');
    record('throttled', { address: '192.0.2.9' });
    await clock.advance(9000);
    expect(specs()).toEqual([]);
    await clock.advance(2000);
    expect(specs()).toMatchObject([
      { success: false, reason: 'auth rate limit exceeded (37 attempts)', sourceIP: '192.0.2.9' },
    ]);
  });

  test('of one failure has no number', async () => {
    const { clock, record, specs } = start();
    record('incorrect_password');
    await clock.advance(11_000);
    expect(specs()).toMatchObject([{ success: false, reason: 'incorrect password' }]);
  });

  test('has the user agent in 256 bytes without control characters', async () => {
    const { clock, record, specs } = start();
    record('succeeded', { userAgent: `a\tb\u0000c\u009f${'ä'.repeat(200)}` });
    await clock.advance(1000);
    expect(specs()[0]?.['userAgent']).toBe(`abc${'ä'.repeat(126)}`);
  });

  test('is not written for whoever is no User object, or another one by now', async () => {
    const { clock, record, records, made } = start();
    const user: User = { name: 'alice', uid: 'uid-alice', groups: [], state: 'Active' };
    record('succeeded', { user });
    record('succeeded', { user: { ...user, uid: 'earlier', isObject: true }, address: '192.0.2.3' });
    record('succeeded', { name: 'nobody' });
    made('bob');
    await clock.advance(1000);
    expect(records.writes).toEqual([]);
  });

  test('R-17 costs three writes for 1,000 failures', async () => {
    const { clock, record, records, counts } = start();
    for (let failure = 0; failure < 1_000; failure++) {
      record('throttled');
      await clock.leap(10);
    }
    await clock.advance(20_000);
    expect(records.writes.length).toBeLessThanOrEqual(3);
    expect(counts.dropped).toBe(0);
  });

  test('R-17 waits for its turn when 1,000 failures are those of 200 users', async () => {
    const { clock, record, records, made } = start();
    for (let user = 0; user < 200; user++) made(`u${user}`);
    for (let failure = 0; failure < 1_000; failure++) record('incorrect_password', { name: `u${failure % 200}` });
    await clock.advance(11_000);
    expect(records.writes.length).toBeLessThanOrEqual(6);
  });

  test('is dropped and counted while the cluster is away, and when too many wait', async () => {
    const { clock, record, records, counts } = start();
    records.failure = new Error('away');
    record('succeeded');
    await clock.advance(1000);
    expect(counts).toEqual({ written: 0, dropped: 1 });
    for (let user = 0; user < 1_100; user++) record('succeeded', { name: `u${user}` });
    expect(counts.dropped).toBe(101);
  });

  test('of a success is not pushed out by failures over many names', async () => {
    const { clock, record, records, counts } = start();
    for (let user = 0; user < 1_100; user++) record('incorrect_password', { name: `u${user}` });
    expect(counts.dropped).toBe(100);
    record('succeeded');
    await clock.advance(1000);
    expect(records.all().map(({ spec }) => asObject(spec)['success'])).toEqual([true]);
  });

  test('of a success comes once in 10 s for the addresses of one /64, with the last one whole', async () => {
    const { clock, record, specs } = start();
    for (let host = 1; host <= 50; host++) record('succeeded', { address: `2001:db8:0:1::${host}` });
    record('succeeded', { address: '2001:db8:0:2::1' });
    await clock.advance(1000);
    expect(specs().map(({ sourceIP }) => sourceIP)).toEqual(['2001:db8:0:1::50', '2001:db8:0:2::1']);
  });

  test('of successes comes six times a minute for a user, however many sources there are; the last has the number', async () => {
    const { clock, record, specs } = start();
    for (let source = 0; source < 100; source++) record('succeeded', { address: `192.0.2.${source}` });
    await clock.advance(59_000);
    expect(specs()).toHaveLength(6);
    await clock.advance(2000);
    expect(specs().slice(6)).toMatchObject([
      { success: true, reason: 'authenticated successfully (94 attempts)', sourceIP: '192.0.2.99' },
    ]);
    for (let second = 0; second < 600; second++) {
      record('succeeded', { address: `198.51.100.${second % 256}` });
      await clock.advance(1000);
    }
    expect(specs().length).toBeLessThanOrEqual(7 + 66);
  });
});

describe('the time of the last login', () => {
  test('is written for a success, at most once in 5 min, and leaves the state alone', async () => {
    const { clock, objects, record, lastLogin } = start();
    record('incorrect_password');
    await clock.advance(11_000);
    expect(lastLogin()).toBeUndefined();
    record('succeeded');
    await clock.advance(1000);
    const first = lastLogin();
    expect(first).toBe('2026-03-09T10:00:11Z');
    expect(objects.peek('alice')?.['status']).toEqual({ state: 'Active', lastLoginTime: first });
    await clock.advance(4 * MINUTE);
    record('succeeded');
    await clock.advance(1000);
    expect(lastLogin()).toBe(first);
    await clock.advance(MINUTE);
    record('succeeded');
    await clock.advance(1000);
    expect(lastLogin()).not.toBe(first);
  });
});
