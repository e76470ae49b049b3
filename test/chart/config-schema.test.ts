import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problem.ts';
import { render } from './helm.ts';

describe('config is checked by the program’s own schema', () => {
  test.each([
    [
      'a level that there is not',
      { log: { level: 'verbose' } },
      "at '/config/log/level': value must be one of 'trace'",
    ],
    ['a setting that there is not', { log: { colour: true } }, "at '/config/log': additional properties 'colour' not"],
    ['a section that there is not', { weather: {} }, "at '/config': additional properties 'weather' not allowed"],
    ['a number beyond its limits', { limits: { maxWatches: 0 } }, "at '/config/limits/maxWatches': minimum"],
    ['a text instead of a number', { limits: { maxWatches: '9' } }, "at '/config/limits/maxWatches': got string"],
    ['a duration without a unit', { nodes: { maxStaleness: '90' } }, "at '/config/nodes/maxStaleness': '90' does not"],
    ['a null', { log: { level: null } }, "at '/config/log/level': got null"],
    ['a section that is no map', { server: 'fast' }, "at '/config/server': got string, want null or object"],
    [
      'a client without a name',
      { authentication: { oauthOptions: { clients: [{ public: true }] } } },
      "at '/config/authentication/oauthOptions/clients/0': missing property 'name'",
    ],
    [
      'a proxy that is no address range',
      { authentication: { trustedProxies: [{ cidr: '10.0.0.0' }] } },
      "at '/config/authentication/trustedProxies/0/cidr'",
    ],
  ])('and refuses %s', async (_, config, message) => {
    await expect(render({ config })).rejects.toThrow(message);
  });

  test.each([
    [
      'durations of every form',
      { nodes: { maxStaleness: 'none' }, limits: { answerTimeout: '1m30s', bodyTimeout: '1.5s' } },
    ],
    ['a key rotation that is off', { authentication: { oauthOptions: { keyRotationPeriod: 0 } } }],
    ['no first administrator', { users: { firstAdministrator: false } }],
    [
      'both kinds of address ranges',
      { authentication: { trustedProxies: [{ cidr: '10.0.0.0/8' }, { cidr: 'fd00::/8' }, '192.0.2.0/24'] } },
    ],
  ])('and takes %s', async (_, config) => {
    expect((await render({ config })).config).toMatchObject(config);
  });

  test.each([
    ['of all', { logging: null, server: null, authentication: null }],
    ['inside a section', { authentication: { oauthOptions: null }, nodes: { selfCheck: null } }],
    ['that may be false', { users: { firstAdministrator: null } }],
  ])('and takes an empty section as one that is not there: one %s', async (_, config) => {
    const readAs = async (values: object) => {
      const { configFile } = await render(values);
      return loadConfig('config.yaml', () => configFile).config;
    };
    expect(await readAs({ config })).toEqual(await readAs({}));
  });

  const clientsOf = (clients: object): object => ({ authentication: { oauthOptions: { clients } } });
  const file = '/tmp/secret';
  const first = 'config.authentication.oauthOptions.clients[0] ("a")';

  test.each([
    [
      'a duration that is too short',
      { nodes: { maxStaleness: '1m59.5s' } },
      'config.nodes.maxStaleness is "1m59.5s", but has to be none, or at least 2m: a healthy watch may be silent for 75s.',
    ],
    [
      'a life of tokens without end, as a number',
      { authentication: { oauthOptions: { accessTokenMaxAge: 0 } } },
      'config.authentication.oauthOptions.accessTokenMaxAge is "0", but has to be at least 1m: a token cannot live for ever, nor for less than a minute.',
    ],
    [
      'a duration that is too long',
      { limits: { answerTimeout: '61m' } },
      'config.limits.answerTimeout is "61m", but has to be between 1s and 1h: a limit cannot be switched off.',
    ],
    [
      'a key rotation of minutes',
      { authentication: { oauthOptions: { keyRotationPeriod: '30m' } } },
      'config.authentication.oauthOptions.keyRotationPeriod is "30m", but has to be 0, or at least 1h.',
    ],
    [
      'a duration of a client',
      clientsOf([{ name: 'a', secretFile: file, accessTokenMaxAge: '59999ms' }]),
      'config.authentication.oauthOptions.clients[0].accessTokenMaxAge is "59999ms", but has to be at least 1m: a token cannot live for ever, nor for less than a minute.',
    ],
    [
      'a client without a proof',
      clientsOf([{ name: 'a' }]),
      `${first} needs exactly one of secretFile, secretName and public: true.`,
    ],
    [
      'a client with two proofs',
      clientsOf([{ name: 'a', secretFile: file, public: true, grantTypes: ['refresh_token'] }]),
      `${first} needs exactly one of secretFile, secretName and public: true.`,
    ],
    [
      'passwords of a public client',
      clientsOf([{ name: 'a', public: true }]),
      `${first} is public, and a public client may not use the password grant; set its grantTypes to [refresh_token].`,
    ],
    [
      'introspection by a public client',
      clientsOf([{ name: 'a', public: true, grantTypes: ['refresh_token'], introspectAll: true }]),
      `${first} is public, and a public client may not introspect tokens; leave its introspectAll out.`,
    ],
    [
      'two clients of one name',
      clientsOf([
        { name: 'a', secretFile: file },
        { name: 'a', secretFile: file },
      ]),
      'config.authentication.oauthOptions.clients[1] has the name "a", which an earlier client has.',
    ],
    [
      'hashes that are dearer than what is accepted',
      { authentication: { passwordHash: { cost: 13 } } },
      'config.authentication.passwordHash.cost is 13, which is above maxCost (12).',
    ],
  ])('and what no schema can say, in a sentence: %s', async (_, config, sentence) => {
    await expect(render({ config })).rejects.toThrow(`: ${sentence}\n`);
    expect(() =>
      loadConfig('config.yaml', (path) => (path === 'config.yaml' ? JSON.stringify(config) : 'a secret')),
    ).toThrow(ConfigError);
  });

  test.each([
    [
      'durations at their limits',
      { nodes: { maxStaleness: '2m' }, limits: { answerTimeout: '1h', bodyTimeout: '1000ms' } },
    ],
    ['a key rotation of zero', { authentication: { oauthOptions: { keyRotationPeriod: '0' } } }],
    ['a public client', clientsOf([{ name: 'a', public: true, grantTypes: ['refresh_token'] }])],
  ])('and takes %s', async (_, config) => {
    expect((await render({ config })).config).toMatchObject(config);
  });
});
