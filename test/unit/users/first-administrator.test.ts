import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { areCurrent, tooOldAmong } from '../../../src/data-age.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { createFirstAdministrator } from '../../../src/users/first-administrator.ts';
import { costOf, libraryBcrypt } from '../../../src/users/password-hash.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemorySecrets } from '../oauth/memory-secrets.ts';
import { until } from '../oauth/test-server.ts';

const SECRET = 'gatehouse-first-administrator';
const HASH = `$2b$10$${'a'.repeat(53)}`;
const stop = new AbortController();
const running: Promise<void>[] = [];

afterAll(async () => {
  stop.abort();
  await Promise.all(running);
});

function start(secrets: MemorySecrets, hashCost = 10) {
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const options = {
    name: 'admin',
    groups: ['gatehouse-admins'],
    secretName: SECRET,
    hashCost,
    maxStalenessMs: 600_000,
  };
  const source = createFirstAdministrator(options, { secrets, clock, random: systemRandom, logger });
  running.push(source.run(stop.signal));
  return { source, clock, lines };
}

const secretOf = (username: string, passwordHash: string) => ({
  username: Buffer.from(username),
  passwordHash: Buffer.from(passwordHash),
});

describe('the first administrator', () => {
  test('is made once, with a random password that stands in the Secret and in no log', async () => {
    const secrets = new MemorySecrets();
    const { source, lines, clock } = start(secrets);
    const isCurrent = () => areCurrent(source.copies, clock.monotonic());
    expect([source.fault(), isCurrent()]).toEqual([`the Secret ${SECRET} is not read yet`, false]);
    await until(() => source.fault() === undefined);
    expect(isCurrent()).toBe(true);
    const { username, password, passwordHash } = secrets.stored.get(SECRET)?.data ?? {};
    expect(source.users()).toEqual([
      {
        name: 'admin',
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        passwordHash: String(passwordHash),
        groups: ['gatehouse-admins'],
        state: 'Active',
      },
    ]);
    expect([String(username), String(password).length]).toEqual(['admin', 24]);
    expect(await libraryBcrypt.compare(String(password), String(passwordHash))).toBe(true);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain(String(password));
  });

  test('C-38 is not judged by when the Secret was not proven current for longer than the limit', async () => {
    const secrets = new MemorySecrets();
    const { source, clock } = start(secrets);
    const tooOld = () => tooOldAmong(source.copies, clock.monotonic());
    await until(() => source.fault() === undefined);
    secrets.proof.at = clock.monotonic() - 600_001;
    expect([source.fault(), tooOld()]).toEqual([undefined, 'users are not available: data is older than 10m0s']);
    secrets.proof.at = clock.monotonic() - 600_000;
    expect(tooOld()).toBeUndefined();
  });

  test('R-03 has a hash of the configured cost, that of the compare for names that nobody has', async () => {
    const { source } = start(new MemorySecrets(), 11);
    await until(() => source.fault() === undefined);
    expect(source.users().map((user) => costOf(user.passwordHash ?? ''))).toEqual([11]);
  });

  test('is the same for replicas that start together', async () => {
    const secrets = new MemorySecrets();
    const replicas = [start(secrets), start(secrets)];
    await until(() => replicas.every(({ source }) => source.fault() === undefined));
    expect(replicas[0]?.source.users()).toEqual(replicas[1]?.source.users());
    expect(replicas.map(({ lines }) => lines.length).sort()).toEqual([0, 1]);
  });

  test('comes from the Secret when there is one, a trailing newline aside', async () => {
    const secrets = new MemorySecrets();
    secrets.put(SECRET, secretOf('root\n', `${HASH}\n`));
    const { source } = start(secrets);
    await until(() => source.fault() === undefined);
    expect(source.users()).toMatchObject([{ name: 'root', passwordHash: HASH }]);
    expect(secrets.creates).toBe(0);
  });

  test('goes with the Secret, is not made again, and follows another Secret', async () => {
    const secrets = new MemorySecrets();
    secrets.put(SECRET, secretOf('admin', HASH));
    const { source, lines } = start(secrets);
    await until(() => source.fault() === undefined);
    let changes = 0;
    source.onChange(() => changes++);
    secrets.remove(SECRET);
    expect([source.users(), secrets.creates, lines.length]).toEqual([[], 0, 1]);
    secrets.put(SECRET, secretOf('admin', `$2b$11$${'a'.repeat(53)}`));
    expect([source.users().length, changes]).toEqual([1, 2]);
  });

  test('is nobody once a User object took the user over, until an operator removes the mark', async () => {
    const secrets = new MemorySecrets();
    secrets.put(SECRET, secretOf('admin', HASH));
    const first = start(secrets);
    await until(() => first.source.fault() === undefined);
    await first.source.takenOver('uid-of-the-object');
    expect(first.source.users()).toEqual([]);
    const { object, ...rest } = secrets.stored.get(SECRET)?.data ?? {};
    expect([String(object), rest]).toEqual(['uid-of-the-object', secretOf('admin', HASH)]);
    await first.source.takenOver('another');
    expect(String(secrets.stored.get(SECRET)?.data['object'])).toBe('uid-of-the-object');
    const second = start(secrets);
    await until(() => second.source.fault() === undefined);
    expect(second.source.users()).toEqual([]);
    secrets.put(SECRET, rest);
    expect([first, second].map(({ source }) => source.users().length)).toEqual([1, 1]);
  });

  test.each([
    ['a reserved name', 'kube-admin', HASH],
    ['no name', '', HASH],
    ['no hash', 'admin', ''],
  ])('does not exist when the Secret has %s', async (_, username, passwordHash) => {
    const secrets = new MemorySecrets();
    secrets.put(SECRET, secretOf(username, passwordHash));
    const { source, lines } = start(secrets);
    await until(() => source.fault() === undefined);
    expect([source.users(), lines.map((line) => line['msg'])]).toEqual([[], ['the Secret names no usable user']]);
  });

  test('is made later when the cluster is away at first', async () => {
    const secrets = new MemorySecrets();
    secrets.fault = new Error('the cluster is away');
    const { source, clock } = start(secrets);
    await until(() => clock.pendingTimers === 1);
    secrets.fault = undefined;
    await clock.advance(1_600); // 0.8 s and as much as jitter at most
    await until(() => source.fault() === undefined);
    expect(source.users()).toHaveLength(1);
  });
});
