import { describe, expect, test } from 'vitest';
import { HELP, nodeFault, parseCommand } from '../../src/arguments.ts';

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
