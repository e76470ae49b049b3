import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { selfSigned } from '../../support/self-signed.ts';

const FILES: Readonly<Record<string, string>> = {
  '/password': 'canary-password\n',
  '/empty': ' \n',
  '/ca.pem': selfSigned('logs.example').cert,
  '/no-ca.pem': 'canary-text',
};

/** The configuration with this section, and these files and no others. */
function load(logging: object) {
  const readFile = (path: string): string => {
    if (path === 'config.yaml') return JSON.stringify({ logging });
    const text = FILES[path];
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return text;
  };
  return loadConfig('config.yaml', readFile);
}

function problems(logging: object): string[] {
  try {
    load(logging);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const HOST = 'https://opensearch.logging:9200';
const NO_ADDRESS = 'logging.host: expected an address such as "https://opensearch.logging:9200"';

describe('the log store', () => {
  test.each([HOST, 'http://10.0.0.1', 'https://[fd00::17]:9200/logs/', 'https://opensearch'])(
    'may be at %s',
    (host) => {
      expect(problems({ host })).toEqual([]);
    },
  );

  test.each([
    'opensearch:9200',
    'ftp://opensearch:9200',
    'https://user:canary@opensearch:9200',
    'https://opensearch:9200?x=1',
    'https://opensearch:9200/#x',
    'https://open search:9200',
    'https://',
    'https://opensearch:99999',
    'https://[fd00::17:9200',
    'https://:9200',
  ])('cannot be at %s', (host) => {
    expect(problems({ host })).toEqual([NO_ADDRESS]);
  });

  test.each(['', '6', '7', '8', '9', 'opensearchv1', 'opensearchv2', 'opensearchv3', 'loki'])(
    'may be of the version "%s"',
    (version) => {
      expect(problems({ host: HOST, version })).toEqual([]);
    },
  );

  test.each(['5', '10', 'opensearchv4', 'OpenSearch'])('cannot be of the version %s', (version) => {
    expect(problems({ host: HOST, version })).toEqual([expect.stringMatching(/^logging\.version: .*opensearchv2/)]);
  });

  test.each(['', 'K', '-k', 'k*', 'k,other', 'k/../_all', 'k'.repeat(101)])(
    'has no indices that begin with "%s"',
    (indexPrefix) => {
      expect(problems({ host: HOST, indexPrefix })).toEqual([expect.stringMatching(/^logging\.indexPrefix: /)]);
    },
  );

  test.each(['', '1st', 'k8s.namespace', 'a b', 'a"}', 'x'.repeat(101)])(
    'is refused with a label of Loki named %j',
    (name) => {
      for (const label of ['lokiNamespaceLabel', 'lokiPodLabel', 'lokiContainerLabel'])
        expect(problems({ host: HOST, [label]: name })).toEqual([
          `logging.${label}: expected the name of a label: letters, digits and "_", at most 100`,
        ]);
    },
  );

  test.each(['', 'a b', 'a/b', 'a\nb', 'x'.repeat(151)])('is refused with a tenant of Loki named %j', (lokiTenant) => {
    expect(problems({ host: HOST, lokiTenant })).toEqual([
      expect.stringMatching(/^logging\.lokiTenant: expected a tenant/),
    ]);
  });

  test.each<[string, object, string[]]>([
    [
      'a user without a password',
      { host: HOST, username: 'u' },
      ['logging.passwordFile: is needed when logging.username is set'],
    ],
    [
      'a password without a user',
      { host: HOST, passwordFile: '/password' },
      ['logging.username: is needed when logging.passwordFile is set'],
    ],
    [
      'an empty password',
      { host: HOST, username: 'u', passwordFile: '/empty' },
      ['logging.passwordFile: the file /empty is empty'],
    ],
    [
      'a user with a colon, which ends the name in Basic',
      { host: HOST, username: 'u:v', passwordFile: '/password' },
      ['logging.username: must not have a ":"'],
    ],
    [
      'files that cannot be read',
      { host: HOST, username: 'u', passwordFile: '/none', caFile: '/nowhere' },
      [
        "logging.passwordFile: cannot read the file: ENOENT: no such file or directory, open '/none'",
        "logging.caFile: cannot read the file: ENOENT: no such file or directory, open '/nowhere'",
      ],
    ],
    [
      'a file without a certificate',
      { host: HOST, caFile: '/no-ca.pem' },
      ['logging.caFile: the file /no-ca.pem has no certificate in PEM'],
    ],
    [
      'settings without a host',
      { username: 'u', passwordFile: '/password', caFile: '/ca.pem' },
      [
        'logging.username: needs logging.host',
        'logging.passwordFile: needs logging.host',
        'logging.caFile: needs logging.host',
      ],
    ],
    ['a misspelt setting', { hosts: HOST }, ['logging.hosts: is not a known setting']],
  ])('is refused with %s', (_, logging, wanted) => {
    expect(problems(logging)).toEqual(wanted);
  });

  test('is good with a user, a password and a CA', () => {
    const { config, warnings } = load({ host: HOST, username: 'u', passwordFile: '/password', caFile: '/ca.pem' });
    expect(config.logging).toMatchObject({
      host: HOST,
      version: '',
      indexPrefix: 'ks-logstash-log',
      exportLogsLimit: 100_000,
    });
    expect(warnings.filter((text) => text.startsWith('logging.'))).toEqual([]);
  });

  test('is warned of where anybody could sit between', () => {
    const credentials = { username: 'u', passwordFile: '/password' };
    const texts = [
      ...load({ host: HOST, insecureSkipTLSVerify: true }).warnings,
      ...load({ host: 'http://opensearch:9200', ...credentials }).warnings,
    ];
    expect(texts.filter((text) => text.startsWith('logging.'))).toEqual([
      'logging.insecureSkipTLSVerify is on: anybody on the way to the store can read and change what is in it',
      'logging.host is plain http: the password of the store crosses the network in clear',
    ]);
  });
});
