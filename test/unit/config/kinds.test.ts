import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';

const kindsOf = (kinds: object) => loadConfig('config.yaml', () => JSON.stringify({ kinds })).config.kinds;

function problems(kinds: object): string[] {
  try {
    kindsOf(kinds);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

const PATTERN =
  'expected resource.group with "*" for either: "deployments.apps", "pods." (the core group), "pods.*" (every group), "*.example.com", or "*"';

describe('the section kinds', () => {
  test('lists every kind by default, but neither Secrets, events nor the objects of 3.4 that hold a kubeconfig', () => {
    expect(kindsOf({})).toEqual({
      enabled: true,
      idle: 600_000,
      allow: ['*'],
      deny: ['clusters.cluster.kubesphere.io', 'federatedsecrets.types.kubefed.io'],
      secrets: 'none',
      events: false,
    });
  });

  test.each([
    '*',
    '*.*',
    'pods.',
    'pods.*',
    '*.',
    'deployments.apps',
    '*.cert-manager.io',
    'certificates.cert-manager.io',
    '*.k8s-1.example.com',
  ])('takes the pattern %s', (pattern) => {
    expect(kindsOf({ allow: [pattern], deny: [pattern] })).toMatchObject({ allow: [pattern], deny: [pattern] });
  });

  test.each([
    'clusters',
    '',
    '.',
    '.apps',
    'Pods.',
    'pod*.',
    'pods.*.io',
    '*.*.example.com',
    'pods/log.',
    'pods..io',
    'pods.io.',
    'pods. ',
    '-pods.',
    'v1/pods',
    '**',
  ])('refuses the pattern "%s", and says what a pattern is', (pattern) => {
    expect(problems({ allow: ['*', pattern], deny: [pattern] })).toEqual([
      `kinds.allow[1]: ${PATTERN}`,
      `kinds.deny[0]: ${PATTERN}`,
    ]);
  });

  test.each([
    ['256Mi', 268_435_456],
    ['1Gi', 1_073_741_824],
    ['1.5Gi', 1_610_612_736],
    ['300M', 300_000_000],
    ['1M', 1_000_000],
    ['2Ti', 2_199_023_255_552],
    ['1.0000001M', 1_000_000],
  ])('reads kinds.memory %s as %d bytes', (memory, amount) => {
    expect(kindsOf({ memory }).memory).toBe(amount);
  });

  test.each([
    '256',
    '256m',
    '256k',
    '1Ki',
    '0.5Gi',
    '0Mi',
    '-1Gi',
    '1e9',
    '256 Mi',
    '256MiB',
    '1gi',
    '',
    268_435_456,
    true,
  ])('refuses the amount %j for kinds.memory', (memory) => {
    expect(problems({ memory })).toEqual([
      'kinds.memory: expected an amount of memory with its unit, such as "256Mi" or "1Gi"',
    ]);
  });

  test('keeps a kind at least 10s after its last request', () => {
    expect(kindsOf({ idle: '10s' }).idle).toBe(10_000);
    expect(problems({ idle: '9.9s' })).toEqual(['kinds.idle: must be at least 10s']);
  });

  test('knows two words for Secrets, neither of which serves data', () => {
    expect(kindsOf({ secrets: 'metadata' }).secrets).toBe('metadata');
    expect(problems({ secrets: 'all' })).toEqual(['kinds.secrets: expected "none" or "metadata"']);
  });
});
