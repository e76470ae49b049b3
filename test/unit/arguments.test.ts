import { describe, expect, test } from 'vitest';
import { HELP, nodeFault, parseCommand } from '../../src/cli/arguments.ts';

/** A thumbprint may begin with a dash. */
const DASHED_KID = `-${'A'.repeat(42)}`;

describe('the command line', () => {
  test.each([
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
  ])('%j with GATEHOUSE_CONFIG=%s is %j', (args, fallback, command) => {
    expect(parseCommand(args, fallback)).toEqual(command);
  });

  test.each([
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
