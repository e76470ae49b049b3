import { describe, expect, test } from 'vitest';
import { HELP, parseCommand } from '../../src/arguments.ts';

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

  test.each([[['--confg', 'x']], [['serve']], [['--config']], [['hash-password', 'secret']]])(
    '%j is a misuse',
    (args) => {
      expect(parseCommand(args, undefined)).toMatchObject({ kind: 'misuse' });
    },
  );

  test('names every option in its help', () => {
    for (const option of ['--config', '--check-config', '--config-schema', '--version', '--help', 'hash-password'])
      expect(HELP).toContain(option);
  });
});
