import { describe, expect, test } from 'vitest';
import { HELP, parseCommand } from '../../src/cli/arguments.ts';
import { nodeFault } from '../../src/cli/run-to-end.ts';

/** A thumbprint may begin with a dash. */
const DASHED_KID = `-${'A'.repeat(42)}`;

const USERS_ACTIONS = 'users is followed by list, create, disable, enable, unlock, set-password or import';

describe('the command line', () => {
  test.each<readonly [readonly string[], string | undefined, object]>([
    [[], undefined, { kind: 'run' }],
    [[], '/env.yaml', { kind: 'run', config: '/env.yaml' }],
    [[], '', { kind: 'run' }],
    [['--config', 'a.yaml'], '/env.yaml', { kind: 'run', config: 'a.yaml' }],
    [['--config=a.yaml', '--check-config'], undefined, { kind: 'check-config', config: 'a.yaml' }],
    [['--version'], undefined, { kind: 'version' }],
    [['-h'], undefined, { kind: 'help' }],
    [['--config-schema'], undefined, { kind: 'config-schema' }],
    [['hash-password'], undefined, { kind: 'hash-password' }],
    [['hash-password', '--config', 'a.yaml'], undefined, { kind: 'hash-password', config: 'a.yaml' }],
    [['import-config', 'old.yaml'], '/env.yaml', { kind: 'import-config', file: 'old.yaml' }],
    [['import-config', '-', '--secrets', 'd'], undefined, { kind: 'import-config', file: '-', secrets: 'd' }],
    [['import-config', 'a', '--chart'], undefined, { kind: 'import-config', file: 'a', chart: true }],
    [['keys', 'list'], undefined, { kind: 'keys', request: { action: 'list' } }],
    [['keys', 'list'], '/env.yaml', { kind: 'keys', request: { action: 'list' }, config: '/env.yaml' }],
    [['keys', 'rotate'], undefined, { kind: 'keys', request: { action: 'rotate', isNow: false } }],
    [['keys', 'rotate', '--now'], undefined, { kind: 'keys', request: { action: 'rotate', isNow: true } }],
    [['keys', 'revoke', 'abc'], undefined, { kind: 'keys', request: { action: 'revoke', kid: 'abc' } }],
    [
      ['keys', 'revoke', DASHED_KID, '--config', 'a.yaml'],
      undefined,
      { kind: 'keys', request: { action: 'revoke', kid: DASHED_KID }, config: 'a.yaml' },
    ],
    [['users', 'list'], undefined, { kind: 'users', request: { action: 'list' } }],
    [
      ['users', 'create', 'bob', '--config', 'a.yaml'],
      undefined,
      {
        kind: 'users',
        request: { action: 'create', name: 'bob', email: '', groups: [], role: undefined },
        config: 'a.yaml',
      },
    ],
    [
      ['users', 'create', 'bob', '--email', 'b@c.de', '--group', 'ops', '--group=dev', '--role', 'platform-regular'],
      undefined,
      {
        kind: 'users',
        request: { action: 'create', name: 'bob', email: 'b@c.de', groups: ['ops', 'dev'], role: 'platform-regular' },
      },
    ],
    ...['disable', 'enable', 'unlock', 'set-password'].map(
      (action) =>
        [
          ['users', action, 'bob'],
          '/env.yaml',
          { kind: 'users', request: { action, name: 'bob' }, config: '/env.yaml' },
        ] as const,
    ),
    [
      ['users', 'import', 'f.yaml'],
      undefined,
      { kind: 'users', request: { action: 'import', file: 'f.yaml', isApplied: false } },
    ],
    [
      ['users', 'import', '--apply', 'f.yaml'],
      undefined,
      { kind: 'users', request: { action: 'import', file: 'f.yaml', isApplied: true } },
    ],
  ])('%j with GATEHOUSE_CONFIG=%s is %j', (args, fallback, command) => {
    expect(parseCommand(args, fallback)).toEqual(command);
  });

  test.each<readonly [readonly string[], string]>([
    [['--bogus', 'x'], 'unknown option --bogus'],
    [['--bogus=x'], 'unknown option --bogus'],
    [['-x'], 'unknown option -x'],
    [['--config'], '--config needs a value'],
    [['--config', '--check-config'], '--config needs a value'],
    [['--config', '-x'], '--config needs a value'],
    [['--check-config=yes'], '--check-config takes no value'],
    [['serve'], 'unknown command "serve"'],
    [['keys'], 'keys is followed by list, rotate or revoke KID, and nothing else'],
    [['keys', 'rotate', 'abc'], 'keys is followed by list, rotate or revoke KID, and nothing else'],
    [['keys', 'revoke'], 'keys revoke needs the kid of one key'],
    [['keys', 'revoke', 'a', 'b'], 'keys revoke needs the kid of one key'],
    [['keys', 'list', '--now'], '--now goes with keys rotate only'],
    [['--now'], '--now goes with keys rotate only'],
    [['hash-password', 'secret'], 'unknown command "hash-password secret"'],
    ...[[], ['bogus'], ['bogus', 'bob'], ['list', 'bob']].map((more) => [['users', ...more], USERS_ACTIONS] as const),
    ...['create', 'disable', 'enable', 'unlock', 'set-password'].flatMap((action) =>
      [[], ['bob', 'mia']].map(
        (more) => [['users', action, ...more], `users ${action} needs the name of one user`] as const,
      ),
    ),
    [['users', 'set-password', 'bob', 'secret'], 'users set-password needs the name of one user'],
    [['import-config'], 'import-config needs one FILE, or "-" for standard input'],
    [['import-config', 'a', 'b'], 'import-config needs one FILE, or "-" for standard input'],
    [['keys', 'list', '--secrets', 'd'], '--secrets and --chart go with import-config only'],
    [['--check-config', '--chart'], '--secrets and --chart go with import-config only'],
    [['users', 'import'], 'users import needs one users file'],
    [['users', 'import', 'a', 'b'], 'users import needs one users file'],
    [['users', 'list', '--apply'], '--apply goes with users import only'],
    [['users', 'create', 'bob', '--apply'], '--apply goes with users import only'],
    [['users', 'disable', 'bob', '--role', 'x'], '--email, --group and --role go with users create only'],
    [['users', 'import', 'f', '--group', 'x'], '--email, --group and --role go with users create only'],
    [['users', 'create', 'bob', '--password', 'x'], 'unknown option --password'],
    [['users', 'create', 'bob', '--email'], '--email needs a value'],
    [['users', 'list', '--now'], '--now goes with keys rotate only'],
    [['keys', 'list', '--role', 'x'], '--email, --group, --role and --apply go with users only'],
    [['--apply'], '--email, --group, --role and --apply go with users only'],
  ])('%j is a misuse, said in one line', (args, message) => {
    expect(parseCommand(args, undefined)).toEqual({ kind: 'misuse', message });
  });

  test('names every option in its help', () => {
    const options = [
      '--config',
      '--check-config',
      '--config-schema',
      '--version',
      '--help',
      '-v',
      '-h',
      'hash-password',
      'keys list',
      'keys rotate',
      '--now',
      'keys revoke KID',
      'users list',
      'users create NAME',
      'users disable|enable|unlock NAME',
      'users set-password NAME',
      'users import FILE',
      ...['--email', '--group', '--role', '--apply'],
    ];
    for (const option of [...options, 'GATEHOUSE_CONFIG', 'KUBECONFIG']) expect(HELP).toContain(option);
  });
});

describe('the release of Node.js', () => {
  test.each(['v24.0.0', 'v24.11.1', 'v26.10.0', 'v100.0.0-nightly'])('may be %s', (version) => {
    expect(nodeFault(version)).toBeUndefined();
  });

  test.each(['v18.19.0', 'v20.20.2', 'v23.11.0'])('may not be %s', (version) => {
    expect(nodeFault(version)).toBe(`needs Node 24 or later, this is ${version}`);
  });
});
