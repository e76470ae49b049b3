import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../../src/cli/arguments.ts';
import { parseClientCommand } from '../../../src/cli/client-arguments.ts';
import { CLIENTS_HELP } from '../../../src/cli/login/login-help.ts';

describe('the command line of the program for laptops', () => {
  test.each([
    ['login', '--server', 'https://gatehouse.example.com', '--username', 'ada'],
    ['logout', '--server', 'https://gatehouse.example.com', '--all'],
    ['kubeconfig', '--server', 'https://gatehouse.example.com'],
    ['login', '--help'],
    ['login', '--password', 'x'],
    ['--help'],
    ['-v'],
  ])('K-10 means by %s %s what the whole program means', (...args) => {
    expect(parseClientCommand(args)).toEqual(parseCommand(args, undefined));
  });

  test.each([
    [['users', 'list', '--config', 'a'], '"users" is not one of login, logout and kubeconfig'],
    [[], 'login, logout or kubeconfig comes first'],
    [['--config', 'a'], 'unknown option --config'],
  ])('K-10 refuses %j', (args, message) => {
    expect(parseClientCommand(args)).toEqual({ kind: 'misuse', message });
  });

  test('K-10 names its three commands, in lines of 120 characters', () => {
    for (const action of ['login', 'logout', 'kubeconfig']) expect(CLIENTS_HELP).toContain(`\n  ${action} `);
    expect(CLIENTS_HELP.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });
});
