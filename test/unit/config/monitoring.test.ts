import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { selfSigned } from '../../support/self-signed.ts';

const FILES: Readonly<Record<string, string>> = {
  '/password': 'canary-password\n',
  '/token': 'canary-token\n',
  '/two-tokens': 'canary-one canary-two',
  '/empty': ' \n',
  '/ca.pem': selfSigned('prometheus.example').cert,
};

/** The configuration with this section, and these files and no others. */
function load(monitoring: object) {
  return loadConfig('config.yaml', (path) => {
    const text = path === 'config.yaml' ? JSON.stringify({ monitoring }) : FILES[path];
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return text;
  });
}

function problems(monitoring: object): string[] {
  try {
    load(monitoring);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const on = { prometheus: 'https://prometheus.monitoring:9090/main' };

describe('Prometheus', () => {
  test.each<[string, object]>([
    ['alone', on],
    ['with a user', { ...on, username: 'gatehouse', passwordFile: '/password', caFile: '/ca.pem' }],
    ['with a token', { ...on, tokenFile: '/token', insecureSkipTLSVerify: true }],
    ['not at all', {}],
  ])('CO-09 may be named %s', (_, monitoring) => {
    expect(problems(monitoring)).toEqual([]);
  });

  test.each<[string, object]>([
    ['prometheus: expected an address such as "http://prometheus.monitoring:9090"', { prometheus: 'prometheus:9090' }],
    ['tokenFile: needs monitoring.prometheus', { tokenFile: '/token' }],
    ['passwordFile: is needed when monitoring.username is set', { ...on, username: 'a' }],
    ['tokenFile: the file /empty is empty', { ...on, tokenFile: '/empty' }],
    ['tokenFile: the file /two-tokens has no token in it', { ...on, tokenFile: '/two-tokens' }],
    ['caFile: the file /token has no certificate in PEM', { ...on, caFile: '/token' }],
    [
      'tokenFile: stands in place of a user: leave it or monitoring.username out',
      { ...on, username: 'a', passwordFile: '/password', tokenFile: '/token' },
    ],
  ])('CO-09 is refused: monitoring.%s', (problem, monitoring) => {
    expect(problems(monitoring)).toEqual([`monitoring.${problem}`]);
    expect(JSON.stringify(problems(monitoring))).not.toContain('canary');
  });

  test('CO-09 over plain http with a token is warned of', () => {
    expect(load({ prometheus: 'http://prometheus', tokenFile: '/token' }).warnings).toContain(
      'monitoring.prometheus is plain http: the token of Prometheus crosses the network in clear',
    );
  });
});
