import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HELP, parseCommand } from '../../../src/cli/arguments.ts';
import { isLoopback } from '../../../src/cli/login/login-arguments.ts';
import { CLIENT_HELP } from '../../../src/cli/login/login-help.ts';

const SERVER = 'https://gatehouse.example.com';
const session = { server: SERVER, clientId: 'gatehouse' };
const ALL =
  '--server --username --client-id --client-secret-file --certificate-authority --certificate-authority-data --session-file';

describe('the command line of people who sign in', () => {
  test.each<readonly [readonly string[], object]>([
    [['login', '--server', SERVER], { action: 'login', ...session }],
    [['login', '--server', `${SERVER}:443//`], { action: 'login', ...session }],
    [['login', '--server', 'HTTP://LOCALHOST:9090/'], { action: 'login', ...session, server: 'http://localhost:9090' }],
    [['login', '--server', `${SERVER}/behind/`], { action: 'login', ...session, server: `${SERVER}/behind` }],
    [
      ['login', '--server', SERVER, '--username', 'ada', '--password-file', '/pw', '--print', 'token'],
      { action: 'login', ...session, username: 'ada', passwordFile: '/pw', print: 'token' },
    ],
    [['login', '--server', SERVER, '--browser'], { action: 'login', ...session, way: 'browser' }],
    [['login', '--server', SERVER, '--no-browser'], { action: 'login', ...session, way: 'password' }],
    [['login', '--server', SERVER, '--device'], { action: 'login', ...session, way: 'device' }],
    [
      ['kubeconfig', '--server', SERVER, '--device'],
      { action: 'kubeconfig', ...session, way: 'device', command: 'gatehouse' },
    ],
    [['login', '--server', SERVER, '--password-file', '-'], { action: 'login', ...session, passwordFile: '-' }],
    [
      ['login', '--server', SERVER, '--client-id', 'cli', '--client-secret-file', 'a', '--session-file', 'b'],
      { action: 'login', ...session, clientId: 'cli', clientSecretFile: resolve('a'), sessionFile: resolve('b') },
    ],
    [
      ['login', '--server', SERVER, '--certificate-authority', 'ca.pem'],
      { action: 'login', ...session, certificateAuthority: resolve('ca.pem') },
    ],
    [
      ['login', '--server', SERVER, '--certificate-authority-data', 'QUJD'],
      { action: 'login', ...session, certificateAuthorityData: 'QUJD' },
    ],
    [['logout', '--server', SERVER], { action: 'logout', ...session, isAll: false }],
    [['logout', '--server', SERVER, '--all'], { action: 'logout', ...session, isAll: true }],
    [['kubeconfig', '--server', SERVER], { action: 'kubeconfig', ...session, command: 'gatehouse' }],
    [
      ['kubeconfig', '--server', SERVER, '--namespace', 'shop', '--name', 'prod', '--command', './gatehouse'],
      { action: 'kubeconfig', ...session, namespace: 'shop', name: 'prod', command: resolve('gatehouse') },
    ],
  ])('%j is understood', (args, request) => {
    expect(parseCommand(args, '/env.yaml')).toEqual({ kind: 'client', request });
  });

  test.each<readonly [readonly string[], string]>([
    [['login'], 'login needs --server URL'],
    [['logout'], 'logout needs --server URL'],
    ...['gatehouse.example.com', 'ftp://a', 'https://ada:pw@a', 'https://a?b', 'https://a#b', ''].map(
      (server) =>
        [
          ['login', '--server', server],
          '--server is an http or https URL without user, query and fragment, like https://gatehouse.example.com',
        ] as const,
    ),
    [['login', '--server', SERVER, 'ada'], 'login takes options only, not "ada"'],
    [['login', '--server', SERVER, '--password', 'x'], 'unknown option --password'],
    [['login', '--server', SERVER, '--config', 'x'], 'unknown option --config'],
    [['login', '--server'], '--server needs a value'],
    [['login', '--server', SERVER, '--print', 'all'], '--print is credential, token or none'],
    [['login', '--server', SERVER, '--username', ''], '--username and --client-id must not be empty'],
    [
      ['login', '--server', SERVER, '--certificate-authority', 'a', '--certificate-authority-data', 'b'],
      '--certificate-authority and --certificate-authority-data do not go together',
    ],
    [['login', '--server', SERVER, '--browser', '--device'], '--browser and --device do not go together'],
    [['login', '--server', SERVER, '--no-browser', '--browser'], '--browser and --no-browser do not go together'],
    [
      ['login', '--server', SERVER, '--device', '--password-file', 'x'],
      '--device and --password-file do not go together',
    ],
    [['logout', '--server', SERVER, '--device'], 'unknown option --device'],
    [['logout', '--server', SERVER, '--password-file', 'x'], 'unknown option --password-file'],
    [
      ['kubeconfig', '--server', SERVER, '--password-file', '-'],
      'the --password-file of a kubeconfig must be a file, not -: every sign-in reads it again',
    ],
  ])('%j is a misuse, said in one line', (args, message) => {
    expect(parseCommand(args, undefined)).toEqual({ kind: 'misuse', message, about: args[0] });
  });

  test('has the command before its options', () => {
    const message = 'login comes first: gatehouse login …';
    expect(parseCommand(['--config', 'a', 'login'], undefined)).toEqual({ kind: 'misuse', message });
  });

  test.each(['login', 'logout', 'kubeconfig'] as const)('of %s has a help of its own, with every option', (about) => {
    expect(parseCommand([about, '--help'], undefined)).toEqual({ kind: 'help', about });
    const own = {
      login: '--password-file --browser --no-browser --device --print',
      logout: '--all',
      kubeconfig: '--password-file --browser --no-browser --device --namespace --name --command',
    };
    for (const option of `${ALL} ${own[about]}`.split(' ')) expect(CLIENT_HELP[about]).toContain(`  ${option} `);
    expect(CLIENT_HELP[about].split('\n').filter((line) => line.length > 120)).toEqual([]);
    expect(HELP).toContain(`  ${about} `);
  });
});

test.each([
  ['http://localhost:9090', true],
  ['http://127.0.0.2', true],
  ['http://[::1]:9090', true],
  ['http://gatehouse', false],
  ['http://127.example.com', false],
])('%s is loopback: %s', (server, is) => {
  expect(isLoopback(server)).toBe(is);
});
