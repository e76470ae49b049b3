import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Behaviour } from '../../../dev/cluster/behaviour.ts';
import { parseUsersRequest, type UsersOptions } from '../../../src/cli/users-arguments.ts';
import { runUsersCommand } from '../../../src/cli/users-command.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { ROLE, startWriteStand, USERS, type WriteStand } from '../../support/accounts/write-stand.ts';
import { writeConfig } from '../../support/gatehouse.ts';
import { hashOf } from '../../support/passwords.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runProgram } from '../service/program.ts';
import { eventually } from '../service/stand.ts';

const PASSWORD = 'Typed-by-an-operator-1';
const HASHED = 'Kept-in-the-file-1';

const fileOf = async (users: readonly object[]): Promise<string> => {
  const passwordHash = await hashOf(HASHED);
  return JSON.stringify({ users: users.map((user) => ({ passwordHash, ...user })) });
};

describe('gatehouse users, beside a running server', () => {
  let stand: WriteStand;
  let printed: string[] = [];
  beforeAll(async () => {
    stand = await startWriteStand();
  });
  beforeEach(() => {
    printed = [];
  });
  afterAll(() => stand?.stop());

  /** Runs it with the rights of the cluster's administrator; answers what it printed. */
  async function users(
    args: readonly string[],
    { options = {}, password = '', file = '' }: { options?: UsersOptions; password?: string; file?: string } = {},
  ): Promise<string> {
    const request = parseUsersRequest(args, options);
    if ('fault' in request) throw new Error(request.fault);
    const path = writeConfig(temporaryFolder().folder, {
      kubeconfig: stand.cluster.kubeconfig(),
      config: { accounts: { enabled: true } },
    });
    const { config } = loadConfig(path, (name) => readFileSync(name, 'utf8'));
    await runUsersCommand(request, config, {
      clock: systemClock,
      random: systemRandom,
      version: '0.0.0',
      environment: {},
      print: (line) => void printed.push(line),
      readPassword: async () => Buffer.from(password),
      readFile: () => file,
    });
    return printed.join('\n');
  }
  const signsIn = async (name: string, password: string) => (await stand.signIn(name, password)).status === 200;
  const soon = (name: string, password: string, expected = true) =>
    eventually(
      () => signsIn(name, password),
      (so) => so === expected,
    );
  const asksOwn = async (name: string, token: string) => (await stand.ask('GET', `${USERS}/${name}`, { token })).status;
  const make = async (name: string, options: UsersOptions = {}) => {
    await users(['create', name], { options, password: `${PASSWORD}\n` });
    await soon(name, PASSWORD);
    printed = [];
  };

  test('AC-10 create makes a user whom the server lets in, with address, groups and role', async () => {
    const options = { email: 'carl@example.com', group: ['ops'], role: 'platform-regular' };
    expect(await users(['create', 'carl'], { options, password: `${PASSWORD}\n` })).toBe('made the user carl');
    await soon('carl@example.com', PASSWORD);
    const { body } = await eventually(
      () => stand.ask('GET', `${USERS}/carl`),
      ({ body: seen }) => seen.metadata.annotations?.[ROLE] !== undefined,
    );
    expect(body).toMatchObject({
      metadata: { annotations: { [ROLE]: 'platform-regular' }, finalizers: ['finalizers.gatehouse.io/users'] },
      spec: { email: 'carl@example.com', groups: ['ops'] },
      status: { state: 'Active' },
    });
  });

  test('AC-17 create with an empty password makes a user without one, and says so', async () => {
    expect(await users(['create', 'dora'], { password: '\n' })).toBe('made the user dora, who has no password yet');
    await eventually(
      () => stand.ask('GET', `${USERS}/dora`),
      ({ status }) => status === 200,
    );
    expect(await signsIn('dora', PASSWORD)).toBe(false);
  });

  test.each([
    ['AC-12', ['create', 'Not A Name'], {}, /metadata\.name/],
    ['AC-13', ['create', 'kubernetes-admin'], {}, /reserved/],
    ['AC-15', ['create', 'erik'], { email: 'nobody' }, /spec\.email/],
    ['AC-15', ['create', 'erik'], { email: 'TAKEN@example.com' }, /taken has this e-mail address/],
    ['AC-14', ['create', 'taken'], {}, /there is a user object taken/],
    [
      'AC-18',
      ['create', 'erik'],
      { role: 'no-such-role' },
      /there is no platform role no-such-role: there are platform-admin, platform-regular, users-manager/,
    ],
    ['AC-20', ['create', 'erik'], { group: ['system:masters'] }, /spec\.groups\[0\]/],
    ['AC-20', ['create', 'erik'], { group: ['a', 'a'] }, /given twice/],
  ] as const)('%s %j with %j is refused, and nothing is made', async (_, args, options, why) => {
    if (!stand.cluster.objects.get('users', 'taken')) await stand.made('taken');
    const before = stand.cluster.objects.list('users').length;
    await expect(users(args, { options, password: PASSWORD })).rejects.toThrow(why);
    expect([stand.cluster.objects.list('users').length, printed]).toEqual([before, []]);
  });

  test.each([
    'short1A',
    'canary-without-capital-1',
    `$2b$10$${'c'.repeat(53)}`,
    'Two-lines-1\nof-it',
    `Aa1${'x'.repeat(80)}`,
  ])('AC-16 AC-66 the password %j is refused without a word of it', async (password) => {
    for (const action of ['create', 'set-password']) {
      const refused = await users([action, 'fritz'], { password }).catch((error: Error) => error);
      expect(refused).toMatchObject({ name: 'UserRequestError' });
      expect(String(refused) + printed.join()).not.toContain(password);
    }
    expect(stand.leftOf('fritz')).toEqual({ users: [], bindings: [], secrets: [] });
  });

  test('AC-62 set-password: the server takes the new one, refuses the old, and the sessions are over', async () => {
    await make('gerd');
    const token = await stand.newToken('gerd', PASSWORD);
    expect(await users(['set-password', 'gerd'], { password: 'Another-typed-one-2' })).toBe(
      'the password of gerd is set, and all sessions of gerd end',
    );
    await soon('gerd', 'Another-typed-one-2');
    expect(await signsIn('gerd', PASSWORD)).toBe(false);
    await eventually(
      () => asksOwn('gerd', token),
      (status) => status === 401,
    );
  });

  test('AC-35 disable ends sessions, enable lets in again', async () => {
    await make('hanna');
    const token = await stand.newToken('hanna', PASSWORD);
    expect(await users(['disable', 'hanna'])).toBe('hanna is Disabled');
    await eventually(
      () => asksOwn('hanna', token),
      (status) => status === 401,
    );
    expect(await signsIn('hanna', PASSWORD)).toBe(false);
    printed = [];
    expect(await users(['enable', 'hanna'])).toBe('hanna is Active');
    await soon('hanna', PASSWORD);
    expect(await asksOwn('hanna', token)).toBe(401);
  });

  test('unlock opens what failed attempts have closed, and says what is not locked', async () => {
    // A first sign-in would make the address a known one, whose failures are counted apart.
    await users(['create', 'ida'], { password: PASSWORD });
    await eventually(
      () => stand.ask('GET', `${USERS}/ida`),
      ({ status }) => status === 200,
    );
    printed = [];
    await expect(users(['unlock', 'ida'])).rejects.toThrow('ida is not locked, but Active');
    for (let attempt = 0; attempt < 6; attempt++) await stand.signIn('ida', 'Wrong-one-1');
    await eventually(
      () => stand.cluster.objects.get('users', 'ida') as unknown as { status: { state: string } },
      ({ status }) => status.state === 'AuthLimitExceeded',
    );
    expect((await stand.signIn('ida', PASSWORD)).status).toBe(429);
    expect(await users(['unlock', 'ida'])).toBe('ida is Active');
    await soon('ida', PASSWORD);
  });

  test.each(['disable', 'enable', 'unlock', 'set-password'])(
    '%s names a user who is not there, or not any more',
    async (action) => {
      await expect(users([action, 'nobody'], { password: PASSWORD })).rejects.toThrow('there is no user object nobody');
      const name = `leaving-${action}`;
      const metadata = { name, finalizers: ['example.com/kept'], deletionTimestamp: '2026-01-01T00:00:00Z' };
      stand.cluster.objects.create('users', { metadata, spec: { email: '' } });
      await expect(users([action, name], { password: PASSWORD })).rejects.toThrow(`${name} is being deleted`);
      stand.cluster.objects.remove('users', name);
    },
  );

  test.each<readonly [string, Behaviour]>([
    ['refuses', { status: 403 }],
    ['does not answer', { connection: 'reset' }],
  ])('AC-21 create leaves nothing when the cluster %s halfway', async (_, behaviour) => {
    stand.cluster.faults.until({ verb: 'patch', kind: 'users', subresource: 'status' }, behaviour);
    const failed = users(['create', 'half'], { options: { role: 'platform-regular' }, password: PASSWORD });
    await expect(failed).rejects.toThrow();
    stand.cluster.faults.clear();
    await eventually(
      () => JSON.stringify(stand.leftOf('half')),
      (left) => left === '{"users":[],"bindings":[],"secrets":[]}',
    );
  });

  test('list shows everybody in columns, without anything secret', async () => {
    await make('karl', { email: 'karl@example.com', role: 'users-manager' });
    const [head, ...rows] = (await users(['list'])).split('\n');
    expect(head).toMatch(/^NAME +EMAIL +STATE +ROLE +LAST SIGN-IN$/);
    expect(rows.find((row) => row.startsWith('karl '))).toMatch(
      /^karl +karl@example\.com +Active +users-manager +(-|\d{4}-\S+Z)$/,
    );
    expect(rows).toEqual([...rows].sort());
    expect(printed.join()).not.toMatch(/\$2[aby]\$/);
  });

  test('import only says what it would do, and with --apply does it: the hashes go on, nobody is overwritten', async () => {
    await stand.made('lena', { spec: { email: 'lena@example.com' } });
    const file = await fileOf([
      { name: 'lena', groups: ['other'] },
      { name: 'max', email: 'max@example.com', groups: ['ops'], locale: 'de' },
      { name: 'nina', state: 'Disabled' },
      { name: 'otto', email: 'LENA@example.com' },
      { name: 'p'.repeat(64) },
      { name: 'rosa', email: 'Max@Example.com' },
    ]);
    const kept = stand.cluster.objects.get('users', 'lena')?.metadata.resourceVersion;
    const expected = (word: string, end: string) => [
      'skip  lena: there is an object of this name (state Active)',
      `${word} max`,
      `${word} nina`,
      'skip  otto: lena has the same e-mail address',
      expect.stringMatching(/^skip {2}p+: .*at most 63 characters/),
      'skip  rosa: max has the same e-mail address',
      end,
    ];
    await users(['import', 'users.yaml'], { file });
    expect(printed).toEqual(expected('make ', '2 to make, 4 to skip: nothing is written without --apply'));
    expect(stand.cluster.objects.get('users', 'max')).toBeUndefined();
    printed = [];
    await users(['import', 'users.yaml'], { options: { apply: true }, file });
    expect(printed).toEqual(expected('made ', '2 made, 4 skipped'));
    await soon('max', HASHED);
    expect(await signsIn('nina', HASHED)).toBe(false);
    expect((await stand.ask('GET', `${USERS}/max`)).body).toMatchObject({
      spec: { email: 'max@example.com', lang: 'de', groups: ['ops'] },
    });
    expect((await stand.ask('GET', `${USERS}/nina`)).body.status.state).toBe('Disabled');
    expect(stand.cluster.objects.get('users', 'lena')?.metadata.resourceVersion).toBe(kept);
    printed = [];
    await users(['import', 'users.yaml'], { options: { apply: true }, file });
    expect(printed.at(-1)).toBe('0 made, 6 skipped');
    expect(printed.join()).not.toMatch(/\$2[aby]\$/);
  });

  test('import of a file that is none names every problem, and no hash', async () => {
    const file = JSON.stringify({ users: [{ name: 'quinn', passwordHash: 'canary-no-hash' }, { name: '' }] });
    const refused = await users(['import', 'users.yaml'], { file }).catch((error: Error) => error);
    expect(refused).toMatchObject({ name: 'UsersFileError' });
    expect(String(refused)).toContain('users.yaml');
    expect(String(refused)).not.toContain('canary-no-hash');
  });
});

describe('the program', () => {
  test.each([
    [['users'], 'users is followed by list, create, disable, enable, unlock, set-password or import'],
    [['users', 'disable'], 'users disable needs the name of one user'],
  ])('%j is a misuse: exit code 2 and one line', async (args, message) => {
    expect(await runProgram(args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `gatehouse: ${message}; see gatehouse --help\n`,
    });
  });
});
