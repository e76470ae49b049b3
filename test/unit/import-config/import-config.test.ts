import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { type ImportedConfig, importConfig } from '../../../src/cli/import-config/import-config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { cases, SEED } from '../../support/seed.ts';
import { SHAPES } from './shapes.ts';

const FOLDER = '/run/secrets/gatehouse';

const WITH_SECRETS = { secretsFolder: FOLDER };

const noFile = (path: string): never => {
  throw new Error(`ENOENT: no such file, open '${path}'`);
};

function imported(text: string, { secretsFolder }: { readonly secretsFolder?: string } = WITH_SECRETS): ImportedConfig {
  const outcome = importConfig(text, { secretsFolder, readFile: noFile });
  if ('fault' in outcome) throw new Error(outcome.fault);
  return outcome;
}

/** What the program makes of a printed configuration; throws what `--check-config` prints. */
function loaded({ text, files }: ImportedConfig) {
  const contents = new Map([['new.yaml', text], ...files.map(({ path, content }) => [path, content] as const)]);
  return loadConfig('new.yaml', (path) => contents.get(path) ?? noFile(path)).config;
}

const faultOf = (text: string): string => {
  const outcome = importConfig(text, { readFile: noFile });
  return 'fault' in outcome ? outcome.fault : '';
};

describe('a configuration made from one of KubeSphere', () => {
  describe.each(Object.entries(SHAPES))('%s', (_, text) => {
    test.each([WITH_SECRETS, {}])('is good, and has no secret: %j', (folder) => {
      const outcome = imported(text, folder);
      expect(loaded(outcome).platform).toBe('kubesphere');
      expect(outcome.text).not.toContain('made-up-');
      expect(outcome.files.every(({ path }) => 'secretsFolder' in folder && path.startsWith(`${FOLDER}/`))).toBe(true);
    });

    test('says what became of each section', () => {
      const { text: printed } = imported(text);
      const sections = [...text.matchAll(/^([A-Za-z]+[A-Za-z0-9]*):/gm)].map(([, name]) => name);
      const left = sections.filter((name) => !['apiVersion', 'kind', 'spec', 'kubernetes'].includes(name ?? ''));
      for (const name of left) expect(printed.toLowerCase()).toContain(name?.toLowerCase());
    });
  });

  test('takes over what has the same meaning here', () => {
    const { authentication, accounts, logging, monitoring } = loaded(
      imported(SHAPES['a full installation of 3.4'] ?? ''),
    );
    expect(monitoring.prometheus).toBe('http://prometheus.example.test:9090');
    expect(authentication).toMatchObject({
      authenticateRateLimiterMaxTries: 10,
      authenticateRateLimiterDuration: 600_000,
      loginHistoryRetentionPeriod: 604_800_000,
      multipleLogin: true,
      oauthOptions: { clients: [{ name: 'kubesphere' }] },
    });
    expect(accounts.enabled).toBe(true);
    expect(logging).toMatchObject({ host: 'http://elasticsearch.example.test:9200', indexPrefix: 'ks-logstash-log' });
  });

  test('reads names in any case, and the words and numbers that 3.4 takes for switches and counts', () => {
    const { authentication } = loaded(imported(SHAPES['names in any case, and words for true'] ?? ''));
    expect(authentication).toMatchObject({ multipleLogin: true, authenticateRateLimiterMaxTries: 7 });
  });

  test('reads a number as nanoseconds where a duration stands', () => {
    const { text } = imported(SHAPES["a developer's minimal file"] ?? '');
    expect(text).toContain('authenticateRateLimiterDuration: 10m # was 600000000000');
  });

  test('gives the reason for each setting of a section that is another thing here', () => {
    const { text } = imported(SHAPES['a full installation of 3.4'] ?? '');
    expect(text).toContain('# - gateway.namespace is about the gateways that 3.4 creates for Ingresses, which are not');
    expect(text).not.toContain('is known neither here nor to KubeSphere 3.4');
    expect(imported('logging: made-up-text').text).toContain('# - logging is no section of settings\n');
  });

  test('does not let tokens live for ever, and says so', () => {
    const { text } = imported(SHAPES['a member cluster'] ?? '');
    expect(text).toMatch(/^# - authentication\.oauthOptions\.accessTokenMaxAge was 0: tokens lived for ever/m);
    expect(parse(text).authentication.oauthOptions).toEqual({ accessTokenInactivityTimeout: '0s' });
  });

  test('puts the secrets of clients and of the log store into files', () => {
    const outcome = imported(SHAPES['a log store with credentials, and clients of its own'] ?? '');
    expect(Object.fromEntries(outcome.files.map(({ path, content }) => [path, content]))).toEqual({
      [join(FOLDER, 'client-1')]: 'kubesphere',
      [join(FOLDER, 'client-2')]: 'made-up-harbor',
      [join(FOLDER, 'client-3')]: 'made-up-forever',
      [join(FOLDER, 'logging-password')]: 'made-up-logging',
    });
    const config = parse(outcome.text);
    expect(config.logging).toMatchObject({
      version: '7',
      username: 'admin',
      passwordFile: `${FOLDER}/logging-password`,
    });
    expect(config.authentication.oauthOptions.clients).toEqual([
      { name: 'kubesphere', secretFile: `${FOLDER}/client-1` },
      {
        name: 'harbor',
        secretFile: `${FOLDER}/client-2`,
        redirectURIs: ['https://harbor.example.test/back'],
        grantMethod: 'auto',
        accessTokenMaxAge: '2h',
      },
      { name: 'forever', secretFile: `${FOLDER}/client-3` },
    ]);
    expect(outcome.text).toContain('the redirect URI "*" is left out');
    expect(outcome.text).toContain('client 4 has no name and is left out');
  });

  test('says how to have the secrets, where no folder is named', () => {
    const { text, files } = imported(SHAPES['a log store with credentials, and clients of its own'] ?? '', {});
    expect(files).toEqual([]);
    expect(text).toContain('client "harbor" is left out: its secret belongs into a file');
    expect(text).toContain('logging.username and logging.password: the password belongs into a file');
  });

  test('takes the stores of events and audit records over, each with its credentials', () => {
    const store = 'host: https://store.example.test:9200, username: admin, password: made-up-password';
    const old = `events: {${store}, indexPrefix: ks-whizard-events}\nauditing: {${store}, webhookUrl: https://audit.example.test}`;
    const { text, files } = imported(old);
    expect(parse(text)).toMatchObject({
      events: { username: 'admin', passwordFile: `${FOLDER}/events-password`, indexPrefix: 'ks-whizard-events' },
      auditing: { host: 'https://store.example.test:9200', passwordFile: `${FOLDER}/auditing-password` },
      log: { auditFormat: 'kubernetes' },
    });
    expect(files).toHaveLength(2);
    expect(text).toContain('auditing.webhookUrl is not needed');

    const chart = importConfig(old, { secretsFolder: '/anywhere', forChart: true, readFile: noFile });
    expect('text' in chart && parse(chart.text)).toMatchObject({
      extraVolumeMounts: [{ mountPath: '/var/run/secrets/gatehouse/imported' }],
      config: { events: { passwordFile: '/var/run/secrets/gatehouse/imported/events-password' } },
    });
  });

  test('says the same as values of the chart, whose pod has the secrets in one Secret', () => {
    const old = SHAPES['a log store with credentials, and clients of its own'] ?? '';
    const outcome = importConfig(old, { secretsFolder: '/anywhere', forChart: true, readFile: noFile });
    if ('fault' in outcome) throw new Error(outcome.fault);
    const folder = '/var/run/secrets/gatehouse/imported';
    expect(parse(outcome.text)).toEqual({
      platform: 'kubesphere',
      accounts: { enabled: true },
      issuer: 'https://gatehouse.example.test/oauth',
      logging: {
        host: 'https://opensearch.example.test:9200',
        username: 'admin',
        existingSecret: 'gatehouse-imported',
      },
      extraVolumes: [{ name: 'imported', secret: { secretName: 'gatehouse-imported' } }],
      extraVolumeMounts: [{ name: 'imported', mountPath: folder, readOnly: true }],
      config: {
        logging: { version: '7' },
        authentication: {
          oauthOptions: {
            clients: [
              { name: 'kubesphere', secretFile: `${folder}/client-1` },
              {
                ...{ name: 'harbor', secretFile: `${folder}/client-2`, accessTokenMaxAge: '2h' },
                ...{ redirectURIs: ['https://harbor.example.test/back'], grantMethod: 'auto' },
              },
              { name: 'forever', secretFile: `${folder}/client-3` },
            ],
          },
        },
      },
    });
    expect(outcome.text).not.toContain('made-up-');
    expect(outcome.files.map(({ path }) => path)).toEqual(
      ['client-1', 'client-2', 'client-3', 'password'].map((name) => `${folder}/${name}`),
    );
  });

  test('follows anchors and merged maps', () => {
    const { logging } = loaded(imported(SHAPES['anchors, and maps merged by them'] ?? ''));
    expect(logging).toMatchObject({
      host: 'https://opensearch.example.test:9200',
      username: 'admin',
      indexPrefix: 'ks-logs',
    });
  });

  test('leaves out what the check refuses, with its words and without the value', () => {
    const { text } = imported(SHAPES['values that 3.4 would take and Gatehouse does not'] ?? '');
    expect(text).toContain(
      '# - authentication.maximumClockSkew is left out, and its default stands: must be between 0s and 30s',
    );
    expect(text).toContain(
      '# - authorization.mode is left out, and its default stands: expected "RBAC" or "AlwaysAllow"',
    );
    expect(text).toContain('# - logging.host is left out');
    expect(parse(text)).toEqual({ platform: 'kubesphere', accounts: { enabled: true } });
  });

  test('leaves out a store whose address is refused with its credentials, and keeps what is good beside it', () => {
    const credentials = 'username: admin, password: made-up-password';
    const { text, files } = imported(`
logging: {host: "https://made-up-user:made-up-word@store.example.test", ${credentials}}
events: {host: "https://store.example.test", ${credentials}}
auditing: {host: "https://store.example.test/?key=made-up-key", ${credentials}}
`);
    expect(parse(text)).toEqual({
      platform: 'kubesphere',
      accounts: { enabled: true },
      events: { host: 'https://store.example.test', username: 'admin', passwordFile: `${FOLDER}/events-password` },
    });
    expect(files.map(({ path }) => path)).toEqual([`${FOLDER}/events-password`]);
    for (const section of ['logging', 'auditing'])
      expect(text).toMatch(new RegExp(`^# - ${section}\\.host is left out, .*\\(its credentials, too\\)$`, 'm'));
    expect(text).not.toContain('made-up-');
  });

  test('leaves out one client that the check refuses, and keeps the others', () => {
    const secret = (name: string, more = '') => `{name: ${name}, secret: made-up-secret-of-${name}${more}}`;
    const clients = [
      secret('good'),
      secret('bad', ', redirectURIs: ["https://made-up-user:made-up-word@client.example.test"]'),
      secret('good'),
      '{name: digits, secret: 1234567890123456}',
      secret('last', ', redirectURIs: ["https://client.example.test"]'),
    ];
    const { text, files } = imported(`authentication: {oauthOptions: {clients: [${clients.join(', ')}]}}`);
    const names = parse(text).authentication.oauthOptions.clients.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(['good', 'last']);
    expect(files.map(({ path }) => path)).toEqual([`${FOLDER}/client-1`, `${FOLDER}/client-5`]);
    expect(text).toContain('# - client "bad" is left out: its redirectURIs[0] must not carry credentials\n');
    expect(text).toContain('# - client "good" is left out: its name is the name of an earlier client\n');
    expect(text).toContain('# - client "digits" is left out: its secret is no text; write it in quotes\n');
  });

  test('takes no number for a password, because a part of it may be lost, and says of half of the credentials that they are left out', () => {
    const { text, files } = imported(`
logging: {host: "https://store.example.test", username: admin, password: 12345678901234567890}
events: {host: "https://store.example.test", username: admin}
auditing: {username: admin, password: made-up-password}
authentication: {oauthOptions: {clients: {name: made-up-map}}}
`);
    expect(files).toEqual([]);
    expect(text).toContain('# - logging.username and logging.password are not both texts that can be read exactly;');
    expect(text).toContain('# - events.username stood alone:');
    expect(text).toContain('# - auditing.username and auditing.password had no auditing.host');
    expect(text).toContain('# - authentication.oauthOptions.clients is left out: it is no list\n');
    expect(text).not.toMatch(/made-up-|1234567/);
  });

  test('does not show a map in the place of a name, nor warns of it in the words of the file', () => {
    const warnings = vi.spyOn(process, 'emitWarning');
    const { text } = imported(
      '{password: made-up-name}: 1\n"jwtSecret=made-up-text": 1\nredis: {{made-up-template}}\n',
    );
    expect(text).toContain('# - a setting whose name is no word is known neither here nor to KubeSphere 3.4\n');
    expect(text).not.toContain('made-up-');
    expect(warnings).not.toHaveBeenCalled();
  });

  test('keeps a name with a line break within its comment', () => {
    const { text } = imported('"evil\\nserver: {port: 1}": 1\n');
    expect(parse(text)).toEqual({ platform: 'kubesphere', accounts: { enabled: true } });
  });
});

test.each([
  ['', 'the text is empty'],
  ['[1, 2', 'not YAML at line 1'],
  ['a: 1\n\tb: 2\n', 'not YAML at line 2: it is indented by a tab, which YAML does not allow; write blanks'],
  ['just words', 'the text is not a map of settings'],
  ['- a\n- b\n', 'the text is not a map of settings'],
  [
    'kind: ConfigMap\ndata: {other: x}\n',
    'the text has no settings of KubeSphere: give the ConfigMap kubesphere-config, or its kubesphere.yaml',
  ],
  [
    'kind: ClusterConfiguration\nspec: {}\n',
    "this is the installer's configuration, from which it makes the API server's: give the ConfigMap kubesphere-config, or its kubesphere.yaml",
  ],
  ['authentication: {}\n---\nlogging: {}\n', 'the text has 2 configurations of KubeSphere: give one of them'],
  [
    'kind: ConfigMap\ndata: {kubesphere.yaml: "made-up-secret: [" }\n',
    'kubesphere.yaml in the ConfigMap: not YAML at line 1',
  ],
  ['kind: ConfigMap\ndata: {kubesphere.yaml: "" }\n', 'kubesphere.yaml in the ConfigMap has no settings'],
  ['a: *nowhere\n', 'not YAML: it nests too deep, has an alias without its anchor, or too many aliases'],
])('a text without one configuration is refused, and not quoted: %j', (text, fault) => {
  expect(faultOf(text)).toBe(fault);
});

const NAMES = [
  ...[
    'authentication',
    'oauthOptions',
    'clients',
    'issuer',
    'multipleLogin',
    'accessTokenMaxAge',
    'maximumClockSkew',
    'authorization',
    'mode',
  ],
  ...[
    'logging',
    'host',
    'username',
    'password',
    'basicAuth',
    'version',
    'kubernetes',
    'kubeconfig',
    'redis',
    'name',
    'secret',
    'redirectURIs',
  ],
  ...['__proto__', 'constructor', 'toString', 'a.b', '', '# not a comment', 'x\ny'],
];
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    5,
    1e21,
    1.5,
    '',
    'yes',
    '10m',
    '-3s',
    '7d',
    'RBAC',
    'kubesphere',
    'https://a.example.test',
    '*',
  ],
  ...[
    'made-up-secret',
    'made-up-\nsecret',
    [],
    ['*'],
    [{ name: 'kubesphere', secret: 'made-up-client' }],
    [null, 3],
    {},
  ],
];

/** A tree of names and values of KubeSphere's file, right and wrong ones, at most four deep. */
function anySettings(random: () => number, depth = 0): Record<string, unknown> {
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const entries = Array.from({ length: Math.floor(random() * 6) }, () => {
    const isSection = depth < 4 && random() < 0.5;
    return [one(NAMES), isSection ? anySettings(random, depth + 1) : one(VALUES)] as const;
  });
  return Object.fromEntries(entries);
}

test('whatever the old file says, the new one is good and has no secret', () => {
  const { fraction } = seededRandom(SEED);
  const sizes: number[] = [];
  for (let index = 0; index < cases(2_000, 300); index++) {
    const text = JSON.stringify({ authentication: {}, ...anySettings(fraction) });
    sizes.push(text.length);
    const outcome = imported(text, fraction() < 0.5 ? WITH_SECRETS : {});
    expect(() => loaded(outcome), `${text}\nTEST_SEED=${SEED}`).not.toThrow();
    expect(outcome.text, text).not.toContain('made-up-');
  }
  expect(Math.max(...sizes)).toBeGreaterThan(500);
});
