import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { selfSigned } from '../../support/self-signed.ts';

const { cert, key } = selfSigned('localhost');
const TOKEN = 'made-up-caller-token';

const load = (settings: string, files: Record<string, string> = {}) =>
  loadConfig('gatehouse.yaml', (path) => {
    const content = { 'gatehouse.yaml': `authentication: {tokenReview: ${settings}}`, ...files }[path];
    if (content === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
    return content;
  });

const withTls = (settings: string, files: Record<string, string> = {}) =>
  load(`${settings}}\nserver: {tls: {certFile: /c, keyFile: /k}`, { '/c': cert, '/k': key, ...files });

function problemsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const warningsOf = (settings: string, files?: Record<string, string>): string[] =>
  load(settings, files).warnings.filter((warning) => warning.includes('tokenReview'));

describe('the settings of the TokenReview webhook', () => {
  test('demand proof of callers by default, so that nobody is let in and nobody is warned', () => {
    expect(load('{}').config.authentication.tokenReview).toEqual({ callerAuth: 'required' });
    expect(warningsOf('{}')).toEqual([]);
  });

  test('take a bearer from a file, with its line end', () => {
    const files = { '/t': `${TOKEN}\n` };
    expect(load('{callerTokenFile: /t}', files).config.authentication.tokenReview).toEqual({
      callerAuth: 'required',
      callerTokenFile: '/t',
    });
    expect(warningsOf('{callerTokenFile: /t}', files)).toEqual([]);
  });

  test('warn when everybody may ask, and of a short bearer, which they do not show', () => {
    expect(warningsOf('{callerAuth: none}')).toEqual([
      'authentication.tokenReview.callerAuth is none: anybody who reaches the API port may have tokens reviewed',
    ]);
    expect(warningsOf('{callerTokenFile: /t}', { '/t': 'hunter2' })).toEqual([
      'the bearer in authentication.tokenReview.callerTokenFile is easy to guess: use at least 16 random characters',
    ]);
  });

  test.each([
    ['', undefined, "cannot read the file: ENOENT: no such file, open '/t'"],
    ['that is empty', ' \n', 'the file does not hold one bearer token: letters, digits and "-._~+/"'],
    ['of two words', 's3cret s3cret', 'the file does not hold one bearer token: letters, digits and "-._~+/"'],
    ['of letters beyond ASCII', 'sécret', 'the file does not hold one bearer token: letters, digits and "-._~+/"'],
  ])('refuse a bearer file %s', (_, content, message) => {
    const files: Record<string, string> = content === undefined ? {} : { '/t': content };
    expect(problemsOf(() => load('{callerTokenFile: /t}', files))).toEqual([
      `authentication.tokenReview.callerTokenFile: ${message}`,
    ]);
  });

  test('take an authority with TLS only', () => {
    expect(problemsOf(() => withTls('{clientCAFile: /a, clientNames: [kube-apiserver]}', { '/a': cert }))).toEqual([]);
    expect(problemsOf(() => load('{clientCAFile: /a, clientNames: [kube-apiserver]}', { '/a': cert }))).toEqual([
      'authentication.tokenReview.clientCAFile: needs server.tls: without TLS there are no client certificates',
    ]);
  });

  test('refuse an authority that is none', () => {
    const path = 'authentication.tokenReview.clientCAFile';
    expect(problemsOf(() => withTls('{clientCAFile: /a, clientNames: [kube-apiserver]}'))).toEqual([
      `${path}: cannot read the file: ENOENT: no such file, open '/a'`,
    ]);
    expect(problemsOf(() => withTls('{clientCAFile: /a, clientNames: [kube-apiserver]}', { '/a': 's3cret' }))).toEqual([
      `${path}: the file does not hold a certificate in PEM`,
    ]);
  });

  test('demand the names of callers with an authority, and an authority with names', () => {
    const path = 'authentication.tokenReview.clientNames';
    expect(problemsOf(() => withTls('{clientCAFile: /a}', { '/a': cert }))).toEqual([
      `${path}: is needed with clientCAFile: name the callers whose certificates let them in`,
    ]);
    expect(problemsOf(() => load('{clientNames: [kube-apiserver]}'))).toEqual([
      `${path}: needs clientCAFile: without it no client certificate is looked at`,
    ]);
    expect(problemsOf(() => withTls('{clientCAFile: /a, clientNames: []}', { '/a': cert }))).toEqual([
      `${path}: expected at least one name`,
    ]);
    expect(problemsOf(() => withTls('{clientCAFile: /a, clientNames: [""]}', { '/a': cert }))).toEqual([
      `${path}[0]: expected a name`,
    ]);
  });

  test('refuse proofs that nobody would be asked for', () => {
    expect(problemsOf(() => load('{callerAuth: none, callerTokenFile: /t}', { '/t': TOKEN }))).toEqual([
      'authentication.tokenReview.callerAuth: is none, so callerTokenFile and clientCAFile would protect nothing',
    ]);
  });
});
