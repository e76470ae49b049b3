import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandsToAllow } from '../../../web/parts/denied.ts';
import { shellWord } from '../../../web/parts/shell-word.ts';
import { kubeconfigText } from '../../../web/views/account/kubeconfig.ts';
import { brokenRules } from '../../../web/views/account/password-rules.ts';
import { programOf } from '../../../web/views/account/program.ts';

describe('the kubeconfig of the page', () => {
  const text = kubeconfigText({ server: 'https://gatehouse.example.com:8443', user: 'alice' });

  test('is YAML that kubectl reads, and signs in with the program', () => {
    const name = 'gatehouse.example.com:8443';
    const user = `alice@${name}`;
    expect(parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server: 'https://gatehouse.example.com:8443' } }],
      users: [
        {
          name: user,
          user: {
            exec: {
              apiVersion: 'client.authentication.k8s.io/v1',
              command: 'gatehouse',
              args: ['login', '--server=https://gatehouse.example.com:8443', '--print=credential', '--username=alice'],
              interactiveMode: 'IfAvailable',
              provideClusterInfo: false,
              installHint: expect.any(String),
            },
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user } }],
      'current-context': name,
    });
  });

  test('has no secret', () => {
    expect(text).not.toMatch(/token|password|secret|client-key/i);
  });

  test.each(['true', '0123', 'a: b', '- "x"', 'ü\n'])('keeps a user name as it is (%j)', (user) => {
    const parsed = parse(kubeconfigText({ server: 'https://a.example', user }));
    expect(parsed.users[0].name).toBe(`${user}@a.example`);
    expect(parsed.users[0].user.exec.args.at(-1)).toBe(`--username=${user}`);
  });
});

describe('a word of a shell', () => {
  test.each([
    ['pods', 'pods'],
    ['', "''"],
    ['two words', "'two words'"],
    ["it's $HOME `id` \\", "'it'\\''s $HOME `id` \\'"],
  ])('is quoted where the shell would read it (%j)', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });

  test('keeps a hostile user name out of the commands for administrators', () => {
    const denied = { user: "x'; rm -rf /", verb: 'list', resource: 'pods', group: '', namespace: '', name: '' };
    expect(commandsToAllow(denied, 'gatehouse')).toContain(`--user='x'\\''; rm -rf /'`);
  });
});

describe('the rules for passwords', () => {
  test.each([
    ['', ['short', 'lowerCase', 'upperCase', 'digit']],
    ['Abcdefg1', []],
    ['abcdefgh', ['upperCase', 'digit']],
    [`Aa1${'x'.repeat(70)}`, ['long']],
    [`Aa1${'ä'.repeat(35)}`, ['long']],
    // Four code points, but eight UTF-16 units.
    ['Aa1😀', ['short']],
  ])('are those of the server (%j)', (password, broken) => {
    expect(brokenRules(password)).toEqual(broken);
  });
});

describe('the program of a sign-in', () => {
  test.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
      'Chrome 141, Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
      'Edge 141, Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari 18, iOS',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140, Linux'],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['kubectl/v1.34.0 (linux/amd64) kubernetes/abc', 'kubectl/v1.34.0'],
    ['', ''],
  ])('is short (%s)', (userAgent, program) => {
    expect(programOf(userAgent)).toBe(program);
  });
});
