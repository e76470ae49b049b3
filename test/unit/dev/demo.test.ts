import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseDemoArguments } from '../../../dev/demo-arguments.ts';
import { loadDemoConfig } from '../../../dev/demo-config.ts';
import { installedRights } from '../../../dev/demo-rights.ts';
import { mergeDeep } from '../../../dev/merge.ts';

describe('the demo’s command line', () => {
  test('has a default for everything', () => {
    const defaults = {
      nodes: 12,
      podsPerNode: 8,
      podChanges: 1,
      port: 9090,
      platform: 'gatehouse',
      logs: true,
      verbose: false,
    };
    expect(parseDemoArguments([])).toEqual(defaults);
    expect(parseDemoArguments(['--logs'])).toEqual(defaults);
  });

  test('takes every option', () => {
    const args = [
      '--nodes',
      '3',
      '--pods-per-node=0',
      '--pod-changes=2',
      '--port',
      '8000',
      '--platform',
      'acme',
      '--no-logs',
      '--verbose',
      '--config',
      'a.yaml',
    ];
    expect(parseDemoArguments(args)).toEqual({
      nodes: 3,
      podsPerNode: 0,
      podChanges: 2,
      port: 8000,
      platform: 'acme',
      logs: false,
      verbose: true,
      config: 'a.yaml',
    });
  });

  test.each([
    [['--nodes', 'many'], '--nodes wants a whole number from 0 to 20000, not "many"'],
    [['--port', '65535'], '--port wants a whole number from 1 to 65534, not "65535"'],
    [['--nodes', '-1'], '--nodes wants a whole number from 0 to 20000, not "-1"'],
    [['--loud'], 'unknown option --loud'],
    [['--config'], '--config needs a value'],
    [['--platform', 'A_b'], '--platform wants lower-case letters, digits and "-", at most 63, not "A_b"'],
  ])('says what is wrong with %j in one line', (args, misuse) => {
    expect(parseDemoArguments(args)).toEqual({ misuse });
  });
});

describe('the demo’s configuration', () => {
  const options = { nodes: 1, podsPerNode: 1, podChanges: 0, port: 8000, platform: 'acme', logs: true, verbose: false };
  const made = { kubeconfig: '/k', logStore: 'http://127.0.0.1:9200' };
  const load = (text?: string) =>
    loadDemoConfig(text === undefined ? options : { ...options, config: 'my.yaml' }, made, (path) => {
      if (path !== 'my.yaml' || text === 'missing') throw new Error('ENOENT: no such file');
      return text ?? '';
    }).config;

  test('follows from the options', () => {
    const { platform, server, kubernetes, users, accounts, logging } = load();
    expect({ platform, server, kubernetes }).toMatchObject({
      platform: 'acme',
      server: { address: '127.0.0.1', port: 8000, metricsPort: 8001 },
      kubernetes: { kubeconfig: '/k' },
    });
    expect([users.firstAdministratorWanted, accounts.enabled]).toEqual(['always', true]);
    expect(logging.host).toBe('http://127.0.0.1:9200');
  });

  test('takes the user’s own on top', () => {
    const { platform, server } = load('platform: other\nserver: {metricsPort: 7}');
    expect([platform, server.port, server.metricsPort]).toEqual(['other', 8000, 7]);
    expect(load('').platform).toBe('acme');
  });

  test.each([
    ['missing', 'cannot read the file: ENOENT: no such file'],
    ['just text', 'expected a map of settings'],
    ['- a', 'expected a map of settings'],
    ['a: [\n', 'not YAML at line 2: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ['serverr: {}', 'serverr: is not a known setting'],
  ])('names the user’s file for what is wrong with it (%j)', (text, problem) => {
    expect(() => load(text)).toThrow(`my.yaml cannot be used:\n  ${problem}`);
  });
});

describe('the demo’s rights', () => {
  const rights = installedRights('acme', (name) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'));

  test('are those of an installation with accounts and log queries, for the demo’s platform', () => {
    const assignable = rights.filter(([, { metadata }]) => metadata.labels?.['iam.acme.io/assignable'] === 'true');
    const names = assignable.map(([, { metadata }]) => metadata.name);
    expect(names).toEqual(['platform-admin', 'platform-regular', 'users-manager']);
    expect(JSON.stringify(rights)).not.toMatch(/gatehouse(?:\.io|-admins)/);
  });

  test('are given to the first administrator’s group', () => {
    const [, binding] = rights.find(([plural]) => plural === 'clusterrolebindings')!;
    expect(binding).toMatchObject({ subjects: [{ kind: 'Group', name: 'acme-admins' }] });
    const roles = rights.filter(([plural]) => plural === 'clusterroles').map(([, { metadata }]) => metadata.name);
    expect(roles).toContain((binding['roleRef'] as { name: string }).name);
  });
});

describe('mergeDeep', () => {
  test('merges maps deep and replaces everything else', () => {
    const base = { a: { b: 1, c: [1, 2] }, d: 'x', e: { f: 1 } };
    expect(mergeDeep(base, { a: { c: [3] }, d: { g: 1 }, e: null })).toEqual({
      a: { b: 1, c: [3] },
      d: { g: 1 },
      e: null,
    });
  });

  test('gives no prototype to reach', () => {
    const merged = mergeDeep({}, JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});
