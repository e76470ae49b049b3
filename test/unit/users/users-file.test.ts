import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createUsersFile, UsersFileError } from '../../../src/users/users-file.ts';
import { parseUsersFile } from '../../../src/users/users-file-content.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HASH = `$2b$10$${'a'.repeat(53)}`;
const rules = { platform: 'gatehouse', maxHashCost: 12 };
const file = (...names: string[]): string =>
  `users:\n${names.map((name) => `  - { name: ${name}, passwordHash: "${HASH}" }\n`).join('')}`;

/** Ten lists, each of which holds the one before it nine times. */
const aliasBomb = Array.from({ length: 10 }, (_, level) => {
  const before = Array.from({ length: 9 }, () => (level === 0 ? 'x' : `*l${level - 1}`));
  return `l${level}: &l${level} [${before.join(', ')}]`;
}).join('\n');

describe('the text of a users file', () => {
  test('gives users with defaults and a uid that follows from platform and name', () => {
    const content = parseUsersFile(
      `users:
  - name: alice
    passwordHash: ${HASH}
    email: Alice@example.com
    emailVerified: true
    groups: [developers]
    state: AuthLimitExceeded
    uid: "17"
    locale: zh-CN
  - { name: bob.b, passwordHash: "${HASH}", emailVerified: true }
`,
      rules,
    );
    const uid = 'users' in content ? content.users[1]?.uid : '';
    expect(content).toEqual({
      users: [
        {
          ...{ name: 'alice', uid: '17', passwordHash: HASH, groups: ['developers'] },
          ...{ state: 'AuthLimitExceeded', email: 'Alice@example.com', emailVerified: true, locale: 'zh-CN' },
        },
        { name: 'bob.b', uid, passwordHash: HASH, groups: [], state: 'Active' },
      ],
    });
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseUsersFile(file('bob.b'), rules)).toMatchObject({ users: [{ uid }] });
    expect(parseUsersFile(file('bob.b'), { ...rules, platform: 'other' })).not.toMatchObject({ users: [{ uid }] });
  });

  test('A-31 A-32 has every problem reported at once, each with its path and none with a value', () => {
    const content = parseUsersFile(
      `users:
  - { name: Alice, passwordHash: "$2y$05$${'a'.repeat(53)}", state: Off }
  - { name: bob, passwordHash: plain-text, email: nobody, locale: de_CH, shoe: 43, groups: ["system:masters", ""] }
  - { name: kube-admin }
  - { name: carol, passwordHash: "${HASH}" }
  - { name: carol, passwordHash: "${HASH}" }
`,
      rules,
    );
    const problems = 'problems' in content ? content.problems : [];
    expect(problems.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
      'users[0].name: is not a lower-case DNS-1123 name',
      'users[0].passwordHash: has bcrypt cost 5, but 10 to 12 are accepted; make one with "gatehouse hash-password"',
      'users[0].state: expected Active or Disabled or AuthLimitExceeded',
      'users[1].email: is not an ASCII e-mail address',
      'users[1].groups[0]: must not start with "system:" or "kubeadm:"',
      'users[1].groups[1]: is empty',
      'users[1].locale: is not a language tag such as "en" or "zh-CN"',
      'users[1].passwordHash: is not a bcrypt hash; make one with "gatehouse hash-password"',
      'users[1].shoe: is not a known setting',
      'users[2].name: is reserved',
      'users[2].passwordHash: is required',
    ]);
  });

  const weapon = (more: object): string =>
    JSON.stringify({
      users: [
        { name: 'joe', passwordHash: HASH },
        { name: 'eve', passwordHash: HASH, ...more },
      ],
    });
  const groups = (count: number, length = 9): string[] =>
    Array.from({ length: count }, (_, at) => `g-${at}`.padEnd(length, 'x'));

  test.each([' padded', 'padded\t', 'two\nlines', 'half\ud800'])(
    'is refused with the group %j, which no header can carry',
    (group) => {
      const content = parseUsersFile(weapon({ groups: ['Domain Admins', 'Entwickler-S\u00fcd', group] }), rules);
      const message = 'must have no control characters, and no blank at its ends';
      expect(content).toEqual({ problems: [{ path: 'users[1].groups[2]', message }] });
    },
  );

  test.each([
    ['10,000 groups', { groups: groups(10_000) }, 'users[1].groups: are more than 1000'],
    ['1,001 groups', { groups: groups(1_001) }, 'users[1].groups: are more than 1000'],
    ['a group of 1 MB', { groups: groups(1, 1e6) }, 'users[1].groups: are longer than 65536 characters together'],
    [
      'groups of 64 KiB and one',
      { groups: groups(1, 65_537) },
      'users[1].groups: are longer than 65536 characters together',
    ],
    ['a uid of 1 MB', { uid: 'u'.repeat(1e6) }, 'users[1].uid: is longer than 253 characters'],
    ['a locale of 1 MB', { locale: `en-x${'-a'.repeat(5e5)}` }, 'users[1].locale: is longer than 253 characters'],
    ['a name of 254 characters', { name: 'e'.repeat(254) }, 'users[1].name: is not a lower-case DNS-1123 name'],
    ['a name of 1 MB', { name: 'e'.repeat(1e6) }, 'users[1].name: is not a lower-case DNS-1123 name'],
    [
      'an address of 1 MB',
      { email: `${'e'.repeat(1e6)}@example.com` },
      'users[1].email: is not an ASCII e-mail address',
    ],
    ['a hash of 1 MB', { passwordHash: HASH.padEnd(1e6, 'a') }, /^users\[1\]\.passwordHash: is not a bcrypt hash/],
    ['something else of 1 MB', { note: 'x'.repeat(1e6) }, 'users[1].note: is not a known setting'],
  ])('A-46 is refused with a user of %s, in a sentence', (_, more, expected) => {
    const content = parseUsersFile(weapon(more), rules);
    const problems = 'problems' in content ? content.problems.map(({ path, message }) => `${path}: ${message}`) : [];
    expect(problems).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)]);
  });

  test('A-46 may give a user 1,000 groups, and groups of 64 KiB', () => {
    for (const many of [groups(1_000), groups(64, 1_024)])
      expect(parseUsersFile(weapon({ groups: many }), rules)).toMatchObject({ users: [{}, { groups: many }] });
  });

  test('has names that are given twice reported', () => {
    expect(parseUsersFile(file('alice', 'bob', 'alice'), rules)).toEqual({
      problems: [{ path: 'users[2].name', message: 'is the name of users[0] as well' }],
    });
  });

  test.each([
    ['users: [', /^not YAML at line 1: /],
    ['users: []\nusers: []', /^not YAML at line 2: /],
    ['users: *nope', /^not YAML: it nests too deep, has an alias without its anchor, or too many aliases$/],
    [aliasBomb, /^not YAML: /],
    ['['.repeat(50_000), /^not YAML/],
    ['users: []\n---\nusers: []', /^holds a second YAML document at line 2; there may be one only$/],
    [`users: [ } "${HASH}"`, /^not YAML at line 1: [^$]+$/],
    ['', /^expected a map$/],
    ['- a', /^expected a map$/],
  ])('that is no users file is refused (%j)', (text, message) => {
    expect(parseUsersFile(text, rules)).toMatchObject({
      problems: [{ path: '', message: expect.stringMatching(message) }],
    });
  });
});

describe('a users file', () => {
  let folder: string;
  let path: string;
  let stop: AbortController;
  beforeEach(async () => {
    stop = new AbortController();
    folder = await mkdtemp(join(tmpdir(), 'users-file-'));
    path = join(folder, 'users.yaml');
  });
  afterEach(() => {
    stop.abort();
    return rm(folder, { recursive: true });
  });

  async function started(text: string) {
    await writeFile(path, text);
    const clock = new FakeClock();
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const registry = new Registry();
    const source = createUsersFile({ path, ...rules }, { clock, logger, registry });
    const names = (): string[] => source.users().map((user) => user.name);
    let changes = 0;
    source.onChange(() => changes++);
    const running = source.run(stop.signal);
    /** The next look at the file, to its end: the disk has no clock of ours. */
    const look = async (): Promise<void> => {
      await atRest();
      await clock.advance(2000);
      await atRest();
    };
    const atRest = async (): Promise<void> => {
      for (let turn = 0; turn < 5000 && clock.pendingTimers === 0; turn++)
        await new Promise((resolve) => setTimeout(resolve, 1));
      expect(clock.pendingTimers).toBe(1);
    };
    await atRest(); // the first look is over: nothing reads the file while a test writes it
    return { source, names, look, lines, registry, running, changes: () => changes };
  }

  test('that cannot be read or used at start is an error with all problems', async () => {
    const parts = { clock: new FakeClock(), logger: pino({ enabled: false }), registry: new Registry() };
    expect(() => createUsersFile({ path, ...rules }, parts)).toThrow(
      `the users file ${path} cannot be used:\n  cannot be read (ENOENT)`,
    );
    await writeFile(path, file('Alice', 'Bob'));
    const create = (): unknown => createUsersFile({ path, ...rules }, { ...parts, registry: new Registry() });
    expect(create).toThrow(UsersFileError);
    expect(create).toThrow('users[0].name: is not a lower-case DNS-1123 name\n  users[1].name: is not');
  });

  test('is read again when its content changed, and not when only its time did', async () => {
    const { names, look, changes } = await started(file('alice'));
    await look();
    await writeFile(path, file('alice'));
    await look();
    expect([names(), changes()]).toEqual([['alice'], 0]);
    await writeFile(path, file('bob'));
    await look();
    expect([names(), changes()]).toEqual([['bob'], 1]);
  });

  test('is followed through an atomic replacement and through swapped links', async () => {
    const { names, look } = await started(file('alice'));
    await writeFile(join(folder, 'new.yaml'), file('bob'));
    await rename(join(folder, 'new.yaml'), path);
    await look();
    expect(names()).toEqual(['bob']);
    await writeFile(join(folder, '..data'), file('carol'));
    await symlink('..data', join(folder, 'link'));
    await rename(join(folder, 'link'), path);
    await look();
    expect(names()).toEqual(['carol']);
    await writeFile(join(folder, '..data-2'), file('david'));
    await rename(join(folder, '..data-2'), join(folder, '..data'));
    await look();
    expect(names()).toEqual(['david']);
  });

  test('stays as it was when the change is no good, with one line and one count for it', async () => {
    const { names, look, lines, registry } = await started(file('alice'));
    await writeFile(path, file('Bob'));
    await look();
    await look();
    expect(names()).toEqual(['alice']);
    expect(lines).toMatchObject([
      {
        problems: [{ path: 'users[0].name', message: 'is not a lower-case DNS-1123 name' }],
        msg: 'the changed users file is not taken: the last good one stays',
      },
    ]);
    expect(await registry.metrics()).toContain('gatehouse_users_file_reloads_total{result="invalid"} 1');
    await rm(path);
    await look();
    expect([names(), lines.length]).toEqual([['alice'], 2]);
    expect(lines[1]).toMatchObject({ problems: [{ path: '', message: expect.stringContaining('ENOENT') }] });
    await writeFile(path, 'users: [*nobody]');
    await look();
    expect([names(), lines.length]).toEqual([['alice'], 3]);
    await writeFile(path, file('carol'));
    await look();
    expect(names()).toEqual(['carol']);
    expect(lines[3]).toMatchObject({ users: 1, msg: 'the changed users file is in use' });
  });

  test('ends its run on the signal', async () => {
    const { running } = await started(file('alice'));
    stop.abort();
    await running;
  });
});
