import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';

const loadWith = (uris: readonly string[]) =>
  loadConfig('gatehouse.yaml', () => {
    const client = { name: 'console', secret: 'sixteen-or-more-chars', postLogoutRedirectURIs: uris };
    return JSON.stringify({ authentication: { oauthOptions: { clients: [client] } } });
  });

function problemsOf(uris: readonly string[]): string[] {
  try {
    loadWith(uris);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const at = (index: number): string => `authentication.oauthOptions.clients[0].postLogoutRedirectURIs[${index}]`;

const NO_URL = 'expected an absolute http or https URL, such as "https://console.example.com/"';
const NOT_AS_SENT = 'must be written as it is sent: no blank, backslash or control character, others percent-encoded';

describe('postLogoutRedirectURIs', () => {
  test.each([
    'https://console.example.com',
    'https://console.example.com/bye?from=gatehouse&all=1',
    'http://console.gatehouse-system.svc:30880/login',
    'http://[::1]:3000/',
    'https://console.example.com/a%20b',
    "https://console.example.com/~a.b_c-d!$&'()+,;=:@",
  ])('N-26 take %s', (uri) => {
    expect(loadWith([uri]).config.authentication.oauthOptions.clients[0]?.postLogoutRedirectURIs).toEqual([uri]);
  });

  test.each([
    ['a script', 'javascript:alert(1)', NO_URL],
    ['a script that looks like a URL', 'javascript://console.example.com/%0aalert(1)', NO_URL],
    ['data', 'data:text/html,hello', NO_URL],
    ['a file', 'file:///etc/passwd', NO_URL],
    ['a scheme of an app', 'com.example.app:/bye', NO_URL],
    ['a path', '/bye', NO_URL],
    ['an address without scheme', '//console.example.com/', NO_URL],
    ['a scheme without slashes', 'https:console.example.com', NO_URL],
    ['three slashes', 'https:///console.example.com', NO_URL],
    ['no host', 'https://', NO_URL],
    ['a port that is none', 'https://console.example.com:99999/', NO_URL],
    ['nothing', '', NO_URL],
    ['a fragment', 'https://console.example.com/#bye', 'must have no fragment'],
    ['an empty fragment', 'https://console.example.com/#', 'must have no fragment'],
    ['a wildcard', 'https://*.example.com/', 'must be one address: wildcards are not allowed'],
    ['nothing but a wildcard', '*', 'must be one address: wildcards are not allowed'],
    ['a name', 'https://admin@console.example.com/', 'must not carry credentials'],
    ['a name and a password', 'https://admin:s3cret@console.example.com/', 'must not carry credentials'],
    ['an empty name', 'https://@console.example.com/', 'must not carry credentials'],
    ['a line break', 'https://console.example.com/\r\nSet-Cookie: a=b', NOT_AS_SENT],
    ['a tab in the scheme', 'java\tscript:alert(1)', NOT_AS_SENT],
    ['NUL', 'https://console.example.com/\0', NOT_AS_SENT],
    ['DEL', 'https://console.example.com/\x7f', NOT_AS_SENT],
    ['a blank at the start', ' https://console.example.com/', NOT_AS_SENT],
    ['a blank within', 'https://console.example.com/a b', NOT_AS_SENT],
    ['a backslash', 'https:\\\\console.example.com\\', NOT_AS_SENT],
    ['a letter beyond ASCII', 'https://cönsole.example.com/', NOT_AS_SENT],
    ['a line separator', 'https://console.example.com/\u2028', NOT_AS_SENT],
    ['a quote', 'https://console.example.com/"', NOT_AS_SENT],
    ['half an escape', 'https://console.example.com/%4', 'must have two hexadecimal digits after each "%"'],
  ])('N-26 refuse %s', (_, uri, message) => {
    expect(problemsOf([uri])).toEqual([`${at(0)}: ${message}`]);
  });

  test('N-26 name every one that is refused, and quote none', () => {
    const uris = ['javascript:alert(1)', 'https://console.example.com/', 'https://a:s3cret@b/', 'https://a/\n'];
    expect(problemsOf(uris)).toEqual([
      `${at(0)}: ${NO_URL}`,
      `${at(2)}: must not carry credentials`,
      `${at(3)}: ${NOT_AS_SENT}`,
    ]);
  });
});
