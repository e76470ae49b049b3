import { generateKeyPairSync } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';
import { selfSigned } from '../../support/self-signed.ts';

const load = (text: string, files: Record<string, string> = {}) =>
  loadConfig('gatehouse.yaml', (path) => {
    const content = path === 'gatehouse.yaml' ? text : files[path];
    if (content === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
    return content;
  });

const problemsOf = (text: string, files?: Record<string, string>): string[] => {
  try {
    load(text, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
};

describe('the configuration file', () => {
  test('may be empty: every key has a default', () => {
    const { config } = load('');
    expect(config.platform).toBe('gatehouse');
    expect(config.server).toEqual({ port: 9090, metricsPort: 9091, shutdownDelay: 0, streamDrain: 60_000 });
    expect(config.authentication.oauthOptions.issuer).toBe('http://localhost:9090/oauth');
    expect(config.authentication.oauthOptions.accessTokenMaxAge).toBe(7_200_000);
    expect(config.keys.secretName).toBe('gatehouse-signing-keys');
    expect(config.users.firstAdministratorWanted).toBe('in-cluster');
  });

  test('refuses calls as somebody else unless it is told otherwise, by either name of the setting', () => {
    expect(load('').config.gateway.impersonation).toBe('refuse');
    expect(load('gateway: {rejectImpersonation: true}').config.gateway.impersonation).toBe('refuse');
    expect(load('gateway: {impersonation: honour}').config.gateway.impersonation).toBe('honour');
    expect(problemsOf('gateway: {rejectImpersonation: false}')).toEqual([
      'gateway.rejectImpersonation: is no longer a setting: headers are never ignored; set gateway.impersonation to refuse or honour',
    ]);
    expect(problemsOf('gateway: {rejectImpersonation: true, impersonation: honour}')).toEqual([
      'gateway.rejectImpersonation: contradicts gateway.impersonation; remove it',
    ]);
    expect(problemsOf('gateway: {impersonation: ignore}').length).toBe(1);
  });

  test('follows the accounts only with the gateway, with accounts, and with a ClusterRole to write', () => {
    const accounts = 'gateway.accounts';
    expect(problemsOf('gateway: {accounts: {enabled: true}}')).toEqual([
      `${accounts}.enabled: needs gateway.enabled`,
      `${accounts}.enabled: needs accounts.enabled: it follows User objects`,
      `${accounts}.clusterRoles: must name at least one ClusterRole`,
    ]);
    const good = 'enabled: true, clusterRoles: [r], selector: {matchLabels: {example.com/kubectl: "true"}}';
    expect(problemsOf(`accounts: {enabled: true}\ngateway: {enabled: true, accounts: {${good}}}`)).toEqual([]);
  });

  test.each([
    ['groups: ["system:masters"]', 'groups[0]', 'is one of the cluster’s own'],
    ['groups: ["kubeadm:*"]', 'groups[0]', 'is one of the cluster’s own'],
    ['groups: ["*"]', 'groups[0]', 'expected the name of a group, or a prefix that ends with "*"'],
    ['groups: ["a*b"]', 'groups[0]', 'expected the name of a group, or a prefix that ends with "*"'],
    ['selector: {matchLabels: {a: "b c"}}', 'selector.matchLabels.a', 'expected a label value'],
    [
      'selector: {matchExpressions: [{key: a, operator: In}]}',
      'selector.matchExpressions[0].values',
      'must have a value with In and NotIn',
    ],
    [
      'selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}',
      'selector.matchExpressions[0].values',
      '',
    ],
    [
      'selector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}',
      'selector.matchExpressions[0].operator',
      '',
    ],
  ])('refuses gateway.accounts with %s', (text, path, message) => {
    const problems = problemsOf(`accounts: {enabled: true}\ngateway: {enabled: true, accounts: {${text}}}`);
    expect(problems).toEqual([expect.stringContaining(`gateway.accounts.${path}: ${message}`)]);
  });

  test('derives names and the issuer from the platform and the port', () => {
    const { config } = load('platform: acme\nserver: {port: 8080}');
    expect(config.authentication.oauthOptions.issuer).toBe('http://localhost:8080/oauth');
    expect(config.users.firstAdministrator).toEqual({
      name: 'admin',
      groups: ['acme-admins'],
      secretName: 'acme-first-administrator',
    });
    expect(config.keys.secretName).toBe('acme-signing-keys');
  });

  test('is frozen once it is read', () => {
    const { config } = load('');
    expect(Object.isFrozen(config.authentication.oauthOptions.clients[0])).toBe(true);
  });

  test('reports every problem at once, each with its path', () => {
    const text = `
platform: Bad_Name
serverr: {}
server: {port: 99999, shutdownDelay: 15}
users: {firstAdministrator: {nam: root}}
authentication:
  jwtSecret: x
  maximumClockSkew: 31s
  oauthOptions: {accessTokenMaxAge: 0s, issuer: kubesphere}`;
    expect(problemsOf(text).sort()).toEqual([
      'authentication.jwtSecret: is not used: signing keys are made and kept in a Secret by the program; remove it',
      'authentication.maximumClockSkew: must be between 0s and 30s',
      'authentication.oauthOptions.accessTokenMaxAge: must be at least 1m: a token cannot live for ever, nor for less than a minute',
      'authentication.oauthOptions.issuer: expected an absolute URL, such as "https://gatehouse.example.com/oauth"',
      'platform: expected a DNS label: lower-case letters, digits and "-", at most 63',
      'server.port: expected a port number',
      'server.shutdownDelay: expected a duration with its unit, such as "30s", "15m" or "2h"',
      'serverr: is not a known setting',
      'users.firstAdministrator.nam: is not a known setting',
    ]);
  });

  test.each([
    ['ftp://a.example/oauth', 'expected an http or https URL'],
    ['https://a.example/oauth?x=1', 'must have no query and no fragment'],
    ['https://a.example/oauth#x', 'must have no query and no fragment'],
    ['https://a.example/', 'must not end in a slash'],
    ['https://u:p@a.example/oauth', 'must not carry credentials'],
  ])('refuses the issuer %s', (issuer, message) => {
    expect(problemsOf(`authentication: {oauthOptions: {issuer: "${issuer}"}}`)).toEqual([
      `authentication.oauthOptions.issuer: ${message}`,
    ]);
  });

  test('takes a trusted proxy as its address range alone, too', () => {
    const { config } = load(
      'authentication: {trustedProxies: [10.0.0.0/8, {cidr: 192.0.2.0/24, header: X-Real-IP}, {cidr: fd00::/8}]}',
    );
    expect(config.authentication.trustedProxies).toEqual([
      { cidr: '10.0.0.0/8', header: 'X-Forwarded-For' },
      { cidr: '192.0.2.0/24', header: 'X-Real-IP' },
      { cidr: 'fd00::/8', header: 'X-Forwarded-For' },
    ]);
  });

  test.each([
    ['10.0.0.1', '[0]: expected an address range such as "10.0.0.0/8", or a map with cidr and header'],
    ['{cidr: 10.0.0.1}', '[0].cidr: expected an address range such as "10.0.0.0/8"'],
    ['{cidr: 10.0.0.0/8, headers: a}', '[0].headers: is not a known setting'],
  ])('says what a trusted proxy may be: not %s', (proxy, problem) => {
    expect(problemsOf(`authentication: {trustedProxies: [${proxy}]}`)).toEqual([
      `authentication.trustedProxies${problem}`,
    ]);
  });

  test('names the line of a syntax error', () => {
    expect(problemsOf('a: [1\nb: }').join()).toContain('line 2');
  });

  test.each([
    ['platform: *nobody', ': not YAML: it nests too deep, has an alias without its anchor, or too many aliases'],
    ['platform: a\n---\nplatform: b', ': holds a second YAML document at line 2; there may be one only'],
    ['[1, } s3cret]', ': not YAML at line 1: Flow sequence must end with a ]'],
  ])('refuses %j as a problem of the file', (text, problem) => {
    expect(problemsOf(text)[0]).toBe(problem);
    expect(problemsOf(text).join()).not.toContain('s3cret');
  });

  test('says that the file cannot be read', () => {
    expect(() =>
      loadConfig('nowhere.yaml', () => {
        throw new Error('ENOENT');
      }),
    ).toThrow('nowhere.yaml cannot be used:\n  cannot read the file: ENOENT');
  });

  test.each([
    ['server: {tls: {certFile: /c}}', 'server.tls.keyFile: is required'],
    ['server: 7', 'server: expected a map of settings'],
    ['- a', ': expected a map of settings'],
    ['server: {address: 1}', 'server.address: expected a text'],
    ['cors: {origins: x}', 'cors.origins: expected a list'],
    ['nodes: {usage: 1}', 'nodes.usage: expected boolean'],
    ['server: {address: ""}', 'server.address: must not be empty'],
    ['log: {format: xml}', 'log.format: expected "json" or "pretty"'],
    ['server: {port: 65536}', 'server.port: expected a port number'],
    [
      'limits: {headersTimeout: 0s}',
      'limits.headersTimeout: must be between 1s and 1h: a limit cannot be switched off',
    ],
    ['limits: {answerTimeout: 61m}', 'limits.answerTimeout: must be between 1s and 1h: a limit cannot be switched off'],
    ['limits: {maxHeaders: 0}', 'limits.maxHeaders: expected a whole number from 1 to 2000'],
    ['limits: {maxFormBytes: 10000000000}', 'limits.maxFormBytes: expected a whole number from 1024 to 1048576'],
    ['limits: {maxQueryParameters: 64}', 'limits.maxQueryParameters: is not a known setting'],
    [
      'tokenReview: {callerAuth: none}',
      'tokenReview: is in the wrong place: the settings of the TokenReview webhook are authentication.tokenReview',
    ],
  ])('%s is refused in words of ours', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test('names the TLS files that are missing or no PEM, and quotes nothing of them', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const text = 'server: {tls: {certFile: /c, keyFile: /k}}';
    expect(problemsOf(text, { '/k': pem })).toEqual([
      "server.tls.certFile: cannot read the file: ENOENT: no such file, open '/c'",
    ]);
    expect(problemsOf(text, { '/c': pem, '/k': 's3cret' })).toEqual([
      'server.tls.certFile: the file does not hold a certificate in PEM',
      'server.tls.keyFile: the file does not hold an unencrypted private key in PEM',
    ]);
  });

  test('takes a certificate with its own key and refuses it with another', () => {
    const { cert, key } = selfSigned('localhost');
    const text = 'server: {tls: {certFile: /c, keyFile: /k}}';
    expect(problemsOf(text, { '/c': cert, '/k': key })).toEqual([]);
    expect(problemsOf(text, { '/c': cert, '/k': selfSigned('localhost').key })).toEqual([
      'server.tls.keyFile: is not the key of the certificate in certFile',
    ]);
  });

  test('refuses one Secret for the signing keys and the first administrator', () => {
    const message = 'users.firstAdministrator.secretName: must differ from keys.secretName';
    expect(problemsOf('keys: {secretName: one}\nusers: {firstAdministrator: {secretName: one}}')).toEqual([message]);
    expect(problemsOf('keys: {secretName: gatehouse-first-administrator}')).toEqual([message]);
  });

  test('refuses one port for two servers, and a hash cost above what is accepted', () => {
    expect(problemsOf('server: {port: 1, metricsPort: 1}\nauthentication: {passwordHash: {cost: 13}}')).toEqual([
      'server.metricsPort: must differ from server.port',
      'authentication.passwordHash.cost: must not be above maxCost',
    ]);
  });
});

describe('a section with nothing below it', () => {
  test.each([
    'logging:',
    'logging:\n  # host: http://elasticsearch:9200\nserver:\nauthentication:\n  oauthOptions:',
    'authentication:\n  tokenReview:\n  passwordHash:\nnodes:\n  selfCheck:',
    'server:\n  tls:\nusers:\n  firstAdministrator:',
    'server: ~',
    'cors: null',
  ])('is as one that is not there: %j', (text) => {
    expect(load(text).config).toEqual(load('').config);
  });

  test.each([
    ['platform:', 'platform: expected a text'],
    ['logging:\n  host:', 'logging.host: expected a text'],
    ['cors:\n  origins:', 'cors.origins: expected a list'],
    ['server:\n  tls:\n    certFile:\n    keyFile: /k', 'server.tls.certFile: expected a text'],
    ['authentication: {trustedProxies: [~]}', 'authentication.trustedProxies[0]: expected an address range such as'],
  ])('is no setting without a value: %j', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });
});

describe('a duration of 0', () => {
  const settings = [
    'authentication: {oauthOptions: {accessTokenMaxAge: VALUE}}',
    'authentication: {oauthOptions: {accessTokenInactivityTimeout: VALUE}}',
    'authentication: {oauthOptions: {keyRotationPeriod: VALUE}}',
    'authentication: {oauthOptions: {clients: [{name: a, secret: b, accessTokenMaxAge: VALUE}]}}',
    'authentication: {maximumClockSkew: VALUE}',
    'authorization: {maxStaleness: VALUE}',
    'limits: {headersTimeout: VALUE}',
    'server: {shutdownDelay: VALUE, streamDrain: VALUE}',
  ];

  test.each(settings)('is the same as a number and as a text: %s', (setting) => {
    const [number, text] = ['0', '"0"'].map((value) => setting.replaceAll('VALUE', value)) as [string, string];
    expect(problemsOf(number)).toEqual(problemsOf(text));
    if (problemsOf(text).length === 0) expect(load(number).config).toEqual(load(text).config);
  });

  test('is a mistake in the life of tokens, which 3.4 never ends with it', () => {
    expect(problemsOf('authentication: {oauthOptions: {accessTokenMaxAge: 0}}')).toEqual([
      'authentication.oauthOptions.accessTokenMaxAge: must be at least 1m: a token cannot live for ever, nor for less than a minute',
    ]);
  });
});

describe('the rotation of signing keys', () => {
  const period = (text: string) => `authentication: {oauthOptions: {keyRotationPeriod: ${text}}}`;

  test.each([
    ['30 days by default', '', 720 * 3_600_000],
    ['an hour at least', period('1h'), 3_600_000],
    ['never by the clock when it is 0', period('0'), 0],
    ['never by the clock when it is "0s"', period('0s'), 0],
  ])('comes after %s', (_, text, ms) => {
    expect(load(text).config.authentication.oauthOptions.keyRotationPeriod).toBe(ms);
  });

  test.each([
    [period('59m'), 'must be 0, or at least 1h'],
    [period('720'), 'expected a duration with its unit, such as "30s", "15m" or "2h"'],
    [
      'authentication: {oauthOptions: {keyRotationPeriod: 1h, accessTokenMaxAge: 99h}}',
      'must be 0, or at least a 100th of the longest life of a refresh token',
    ],
    [
      'authentication: {oauthOptions: {keyRotationPeriod: 1h, clients: [{name: a, secret: b, accessTokenMaxAge: 99h}]}}',
      'must be 0, or at least a 100th of the longest life of a refresh token',
    ],
  ])('%s is refused', (text, message) => {
    expect(problemsOf(text)).toEqual([`authentication.oauthOptions.keyRotationPeriod: ${message}`]);
  });
});

describe('how old data may be', () => {
  const ages = (text: string): number[] => {
    const { nodes, authorization } = load(text).config;
    return [nodes.maxStaleness, authorization.maxStaleness];
  };

  test.each([
    ['12 min for nodes and 10 min for rights by default', '', [720_000, 600_000]],
    ['set for nodes alone', 'nodes: {maxStaleness: 3h7m}', [11_220_000, 600_000]],
    ['set for rights alone', 'authorization: {maxStaleness: 12m}', [720_000, 720_000]],
    ['two minutes at least', 'nodes: {maxStaleness: 2m}\nauthorization: {maxStaleness: 120s}', [120_000, 120_000]],
    ['without a limit for nodes', 'nodes: {maxStaleness: none}', [Number.POSITIVE_INFINITY, 600_000]],
  ])('is %s', (_, text, expected) => {
    expect(ages(text)).toEqual(expected);
  });

  test.each([
    [
      'nodes: {maxStaleness: 119s}',
      'nodes.maxStaleness: must be none, or at least 2m: a healthy watch may be silent for 75s',
    ],
    [
      'authorization: {maxStaleness: 119999ms}',
      'authorization.maxStaleness: must be at least 2m: a healthy watch may be silent for 75s',
    ],
    [
      'nodes: {maxStaleness: 0}',
      'nodes.maxStaleness: must be none, or at least 2m: a healthy watch may be silent for 75s',
    ],
    [
      'nodes: {maxStaleness: 120}',
      'nodes.maxStaleness: expected a duration with its unit, such as "30s", "15m" or "2h", or "none"',
    ],
    [
      'nodes: {maxStaleness: None}',
      'nodes.maxStaleness: expected a duration with its unit, such as "30s", "15m" or "2h", or "none"',
    ],
    [
      'authorization: {maxStaleness: none}',
      'authorization.maxStaleness: expected a duration with its unit, such as "30s", "15m" or "2h"',
    ],
  ])('%s is refused', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });
});

describe('OAuth clients', () => {
  const clients = (list: string) => `authentication: {oauthOptions: {clients: ${list}}}`;

  const BUILT_IN = { grantTypes: ['password', 'refresh_token'], redirectURIs: [], postLogoutRedirectURIs: [] };
  const BY_BROWSER = {
    grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', ...BUILT_IN.grantTypes],
    redirectURIs: ['http://127.0.0.1', 'http://[::1]', 'http://localhost'],
    grantMethod: 'prompt',
  };

  test('A-52 D-06 are, by default, a public one with the platform’s name and loopback addresses: no secret is in every installation', () => {
    const { config, warnings } = load('platform: acme');
    expect(config.authentication.oauthOptions.clients).toEqual([
      { name: 'acme', public: true, ...BUILT_IN, ...BY_BROWSER },
    ]);
    expect(warnings.join()).toContain('the built-in OAuth client "acme" is in use: it is public and proves nothing');
  });

  test('D-06 are those of the configuration alone, if it names any', () => {
    const { config } = load(clients('[{name: gatehouse, secret: sixteen-or-more-chars}]'));
    expect(config.authentication.oauthOptions.clients).toEqual([
      expect.objectContaining({ name: 'gatehouse', redirectURIs: [], grantTypes: ['password', 'refresh_token'] }),
    ]);
  });

  test('D-06 are, by default with the platform kubesphere, the one of 3.4 with its secret, with a warning', () => {
    const { config, warnings } = load('platform: kubesphere');
    expect(config.authentication.oauthOptions.clients).toEqual([
      { name: 'kubesphere', secret: 'kubesphere', public: false, ...BUILT_IN },
    ]);
    expect(warnings.join()).toContain('its id and its secret are both "kubesphere"');
  });

  test('take their secret from a file, less one trailing newline', () => {
    const { config } = load(clients('[{name: a, secretFile: /s}]'), { '/s': 'sixteen-or-more-chars\n' });
    expect(config.authentication.oauthOptions.clients[0]?.secret).toBe('sixteen-or-more-chars');
  });

  test.each(['a\\nb', 'a\\0', 'a\\u2028b'])(
    'have no line break and no control character in their name: "%s"',
    (name) => {
      expect(problemsOf(clients(`[{name: "${name}", secret: x}]`))).toEqual([
        'authentication.oauthOptions.clients[0].name: must have no control character and no line break',
      ]);
    },
  );

  test('name the secret file that cannot be read', () => {
    expect(problemsOf(clients('[{name: a, secretFile: /s}]'))[0]).toMatch(
      /^authentication\.oauthOptions\.clients\[0\]\.secretFile: cannot read the file: ENOENT/,
    );
  });

  test('T-26 introspect their own tokens, or those of all when they say so and have a secret', () => {
    const { config } = load(clients('[{name: a, secret: x}, {name: b, secret: y, introspectAll: true}]'));
    expect(config.authentication.oauthOptions.clients.map((one) => one.introspectAll)).toEqual([false, true]);
    const open = '[{name: a, public: true, grantTypes: [refresh_token], introspectAll: true}]';
    expect(problemsOf(clients(open))).toEqual([
      'authentication.oauthOptions.clients[0].introspectAll: a public client may not introspect tokens',
    ]);
  });

  test('need exactly one proof, a name of their own and no password grant when public', () => {
    expect(problemsOf(clients('[{name: a}, {name: c, secret: x, public: true}, {name: b, public: true}]'))).toEqual([
      'authentication.oauthOptions.clients[0]: needs exactly one of secret, secretFile, secretName, public: true',
      'authentication.oauthOptions.clients[1]: needs exactly one of secret, secretFile, secretName, public: true',
      'authentication.oauthOptions.clients[1].grantTypes: a public client may not use the password grant',
      'authentication.oauthOptions.clients[2].grantTypes: a public client may not use the password grant',
    ]);
    expect(problemsOf(clients('[{name: a, secret: x}, {name: a, secret: y}]'))).toEqual([
      'authentication.oauthOptions.clients[1].name: is the name of an earlier client',
    ]);
  });

  test('N-16 warn when they may use the password grant, which a list of grants can leave out', () => {
    const secret = 'sixteen-or-more-chars';
    const list = `[{name: a, secretFile: /s}, {name: b, secretFile: /s, grantTypes: [refresh_token]}]`;
    const { config, warnings } = load(clients(list), { '/s': secret });
    expect(config.authentication.oauthOptions.clients.map((one) => one.grantTypes)).toEqual([
      ['password', 'refresh_token'],
      ['refresh_token'],
    ]);
    expect(warnings.filter((warning) => warning.includes('OAuth client'))).toEqual([
      'OAuth client "a" may use the password grant, which RFC 9700 advises against; it sees people’s passwords',
    ]);
  });

  test('B-03 may send browsers to https, to http on loopback, and to a scheme with a dot', () => {
    const uris = [
      'https://a.example/cb?x=1',
      'http://127.0.0.1/cb',
      'http://[::1]:80',
      'http://localhost',
      'com.a:/cb',
    ];
    const { config } = load(clients(`[{name: a, public: true, redirectURIs: ${JSON.stringify(uris)}}]`));
    const [client] = config.authentication.oauthOptions.clients;
    expect(client).toMatchObject({ redirectURIs: uris, grantTypes: ['authorization_code', 'refresh_token'] });
    expect(load(clients('[{name: a, secret: x, redirectURIs: ["https://a/"]}]')).config).toMatchObject({
      authentication: {
        oauthOptions: { clients: [{ grantTypes: ['authorization_code', 'password', 'refresh_token'] }] },
      },
    });
  });

  test.each([
    'http://a.example/cb',
    'http://127.0.0.1.a.example/',
    'https://a.example/#f',
    'https://u:p@a.example/',
    'https://*.a.example/',
    'https://a.example/ b',
    'javascript:alert(1)',
    'data:text/html,x',
    'app:/cb',
    'com.a:/cb#f',
    '/cb',
  ])('B-03 never send browsers to %s', (uri) => {
    expect(problemsOf(clients(`[{name: a, secret: x, redirectURIs: [${JSON.stringify(uri)}]}]`))).toEqual([
      expect.stringMatching(/^authentication\.oauthOptions\.clients\[0\]\.redirectURIs\[0\]: (must|expected)/),
    ]);
  });

  test('B-03 load with the address * of KubeSphere 3.4, which is never honoured, with a warning', () => {
    const { config, warnings } = load(clients('[{name: a, secret: x, redirectURIs: ["*"], grantMethod: auto}]'));
    expect(config.authentication.oauthOptions.clients[0]).toMatchObject({
      ...{ redirectURIs: [], grantTypes: ['password', 'refresh_token'] },
    });
    expect(warnings.join()).toContain('has the redirect address "*", which is never honoured');
  });

  test('B-03 of a public client: the address * is no address, so it would have the password grant', () => {
    expect(problemsOf(clients('[{name: a, public: true, redirectURIs: ["*"]}]'))).toEqual([
      'authentication.oauthOptions.clients[0].grantTypes: a public client may not use the password grant',
    ]);
  });

  test('B-02 have no authorization code without redirect addresses', () => {
    expect(problemsOf(clients('[{name: a, secret: x, grantTypes: [authorization_code]}]'))).toEqual([
      'authentication.oauthOptions.clients[0].grantTypes: authorization_code needs redirectURIs',
    ]);
  });

  test('D-06 give the device grant only to clients that name it, without redirect addresses', () => {
    const device = 'urn:ietf:params:oauth:grant-type:device_code';
    const list = `[{name: a, public: true, grantTypes: ["${device}", refresh_token]}, {name: b, secret: x, redirectURIs: ["https://b/"]}]`;
    const { config } = load(clients(list));
    const [first, second] = config.authentication.oauthOptions.clients;
    expect(first?.grantTypes).toEqual([device, 'refresh_token']);
    expect(second?.grantTypes).not.toContain(device);
    expect(problemsOf(clients('[{name: a, secret: x, grantTypes: [device_code]}]'))).toEqual([
      expect.stringMatching(/^authentication\.oauthOptions\.clients\[0\]\.grantTypes\[0\]: /),
    ]);
  });

  test('warn about inline and short secrets without showing them', () => {
    const { warnings } = load(clients('[{name: a, secret: hunter2}]'));
    expect(warnings.length).toBeGreaterThanOrEqual(2);
    expect(warnings.join()).not.toContain('hunter2');
  });
});

describe('the JSON Schema of the file', () => {
  const validate = new Ajv2020({ strict: false, formats: { cidrv4: true, cidrv6: true } }).compile(
    configJsonSchema() as object,
  );

  test.each(['{}', 'platform: acme', 'server: {shutdownDelay: 15s}'])('accepts %s', (text) => {
    expect(validate(parse(text))).toBe(true);
  });

  test.each(['serverr: {}', 'server: {port: many}', 'server: {shutdownDelay: 15}'])('refuses %s', (text) => {
    expect(validate(parse(text))).toBe(false);
  });
});
