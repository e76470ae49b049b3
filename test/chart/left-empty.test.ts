import { rm } from 'node:fs/promises';
import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART, helm, NAMESPACE, Rendered, render, renderTest } from './helm.ts';
import { umbrellaChart } from './umbrella.ts';

/** What the chart renders for values as somebody writes them. */
async function renderText(text: string): Promise<Rendered> {
  const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, '--skip-tests', '--values', '-'];
  return new Rendered(await helm(args, text));
}

describe('a value that is left empty', () => {
  test.each([
    ...['tolerations', 'affinity', 'topologySpreadConstraints', 'hostAliases', 'dnsConfig', 'priorityClassName'],
    ...['imagePullSecrets', 'extraEnv', 'extraVolumes', 'extraVolumeMounts', 'podLabels', 'podAnnotations'],
    ...['commonLabels', 'deploymentAnnotations', 'nameOverride', 'fullnameOverride', 'issuer', 'config'],
    ...['service:\n  annotations', 'service:\n  ipFamilies', 'ingress:\n  tls', 'networkPolicy:\n  from'],
    ...['image:\n  tag', 'config:\n  logging', 'accounts:\n  objectWriters:\n    users'],
    ...['envFrom', 'extraContainers', 'initContainers', 'extraObjects', 'commonAnnotations', 'deploymentLabels'],
    ...['namespaceOverride', 'schedulerName', 'runtimeClassName', 'hostUsers', 'dnsPolicy', 'ingress:\n  paths'],
  ])('is as one that is not set: %s', async (value) => {
    expect((await renderText(`# as it was copied\n${value}:\n`)).objects).toEqual((await render()).objects);
  });

  test.each([
    ...[
      'image',
      'service',
      'ingress',
      'httpRoute',
      'users',
      'oauth',
      'tokenReview',
      'accounts',
      'gateway',
      'logging',
      'kinds',
    ],
    ...['sessions', 'tls', 'metrics', 'prometheusRule', 'dashboard', 'networkPolicy', 'podDisruptionBudget'],
    ...['resources', 'serviceAccount', 'rbac', 'updateStrategy', 'podSecurityContext', 'containerSecurityContext'],
    ...['autoscaling', 'probes', 'probes:\n  liveness', 'tls:\n  certManager', 'tls:\n  certManager:\n    issuerRef'],
    ...['helmTest', 'allow', 'oauth:\n  client', 'accounts:\n  roleAssigners', 'gateway:\n  constrainedImpersonation'],
    ...[
      'logging:\n  ca',
      'metrics:\n  podMonitor',
      'networkPolicy:\n  egress',
      'networkPolicy:\n  egress:\n    logStore',
    ],
    ...['resources:\n  limits', 'resources:\n  requests', 'platform', 'replicaCount', 'service:\n  type'],
    ...['image:\n  repository', 'gateway:\n  enabled', 'sessions:\n  store', 'podDisruptionBudget:\n  enabled'],
  ])('is as a section or a setting that is not there: %s', async (value) => {
    expect((await renderText(`${value}: # nothing is set below it\n`)).objects).toEqual((await render()).objects);
  });

  test('leaves what is set beside it', async () => {
    const { objects } = await renderText(
      'gateway:\nresources:\n  limits:\nreplicaCount: 2\nservice:\n  port: 8080\n  type:\n',
    );
    expect(objects).toEqual((await render({ replicaCount: 2, service: { port: 8080 } })).objects);
  });

  test('is checked with the chart’s own in its place', async () => {
    await expect(renderText('sessions:\n  store: memory\nreplicaCount: 2\nimage:\n')).rejects.toThrow(
      'replicaCount is 2, but sessions.store is memory',
    );
  });

  test('is still one of the cluster’s own where it is a field of the pod', async () => {
    const { pod } = await renderText('podSecurityContext:\n  runAsUser:\n  fsGroup:\n');
    expect(pod.securityContext).toEqual({
      ...{ runAsNonRoot: true, runAsGroup: 65532 },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    await expect(renderText('resources:\n  limits:\n    memory:\n')).rejects.toThrow("missing property 'memory'");
  });

  test('takes the chart’s own away where it has any: the nodes’ system', async () => {
    expect((await renderText('nodeSelector:\n')).pod.nodeSelector).toBeUndefined();
    expect((await render()).pod.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
  });
});

describe('requests and limits', () => {
  const render1 = async (resources: object): Promise<V1ResourceRequirements | undefined> =>
    (await render({ resources })).container.resources;

  test.each([
    ['1.5Gi', '1.5Gi'],
    ['512M', '512M'],
    ['536870912', '536870912'],
    [536870912, '536870912'],
    [68719476736, '68719476736'],
    ['5e8', '5e8'],
    ['+1Gi', '+1Gi'],
    ['.5Gi', '.5Gi'],
    ['128974848000m', '128974848000m'],
  ])('may be any quantity of memory: %j', async (memory, written) => {
    expect((await render1({ limits: { memory } }))?.limits).toMatchObject({ memory: written });
  });

  test.each(['512m', 1, 512, '0.0001', '.5', '999999999m', '5.5u'])(
    'are refused where they are some bytes of memory: %j',
    async (memory) => {
      await expect(render1({ limits: { memory } })).rejects.toThrow(/reads as less than a megabyte/);
    },
  );

  test.each([
    [0.5, '0.5'],
    [1, '1'],
    ['1.5', '1.5'],
    ['100m', '100m'],
    [0, '0'],
    [0.1, '0.1'],
  ])('may be any number of cores: %j', async (cpu, written) => {
    expect((await render1({ requests: { cpu } }))?.requests).toMatchObject({ cpu: written });
  });

  test('may be of disk, huge pages and devices', async () => {
    const amounts = { 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi', 'nvidia.com/gpu': '1' };
    const resources = await render1({ requests: amounts, limits: amounts });
    expect(resources).toMatchObject({ requests: amounts, limits: amounts });
  });

  test.each([
    ['1.5 Gi', "'1.5 Gi' does not match"],
    ['1gi', "'1gi' does not match"],
    ['512MB', "'512MB' does not match"],
    ['1Gi ', "'1Gi ' does not match"],
    ['', "'' does not match"],
    ['.', "'.' does not match"],
    ['-1Gi', "'-1Gi' does not match"],
    ['1e', "'1e' does not match"],
    ['1e9999999999999999999', "'1e9999999999999999999' does not match"],
    [-1, 'minimum: got -1, want 0'],
    ['0', 'resources.limits.memory is 0, which Kubernetes reads as no limit'],
    ['0.0Gi', 'resources.limits.memory is 0.0Gi, which Kubernetes reads as no limit'],
  ])('may be nothing else: %j', async (memory, message) => {
    await expect(render1({ limits: { memory } })).rejects.toThrow(message);
  });

  test('of the pod of "helm test" are values too, so that a quota lets it in', async () => {
    const resources = { requests: { cpu: '10m', 'ephemeral-storage': '1Mi' }, limits: { cpu: 1 } };
    const { spec } = await renderTest({ helmTest: { resources } });
    expect(spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '10m', memory: '64Mi', 'ephemeral-storage': '1Mi' },
      limits: { cpu: '1', memory: '128Mi' },
    });
  });

  test('of the pod of "helm test" are taken away by null, as those of the server are', async () => {
    const { spec } = await renderTest({
      helmTest: { resources: { requests: { cpu: null }, limits: { memory: null } } },
    });
    expect(spec?.containers[0]?.resources).toEqual({ requests: { memory: '64Mi' } });
  });
});

describe('the chart as a dependency', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await umbrellaChart(['gatehouse', 'blue']);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const deploymentsWith = async (values: object): Promise<string[]> => {
    const args = ['template', 'first', folder, '--namespace', NAMESPACE, '--skip-tests', '--values', '-'];
    const { objects } = new Rendered(await helm(args, JSON.stringify(values)));
    return objects.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name);
  };
  const blue = { platform: 'kubesphere' };

  test.each([
    [{ blue }, ['first-blue', 'first-gatehouse']],
    [{ gatehouse: { enabled: true }, blue: { ...blue, enabled: false } }, ['first-gatehouse']],
    [{ gatehouse: { enabled: false }, blue: { ...blue, enabled: true } }, ['first-blue']],
    [{ gatehouse: { enabled: false }, blue: { enabled: false } }, []],
    [
      {
        global: { any: 'thing' },
        gatehouse: { tolerations: null, config: { logging: null }, gateway: null, resources: { limits: null } },
        blue: { ...blue, enabled: false },
      },
      ['first-gatehouse'],
    ],
  ])('is installed under each of its names as its condition says: %j', async (values, names) => {
    expect((await deploymentsWith(values)).toSorted()).toEqual(names);
  });

  test('is checked under each of its names', async () => {
    const contradictory = { replicaCount: 2, sessions: { store: 'memory' } };
    for (const name of ['gatehouse', 'blue'])
      await expect(deploymentsWith({ [name]: contradictory })).rejects.toThrow(
        'replicaCount is 2, but sessions.store is memory',
      );
  });

  test('by itself it is always installed: "enabled: false" is refused', async () => {
    await expect(render({ enabled: false })).rejects.toThrow(
      'enabled is false, which only Helm reads, in a chart that has this one as a dependency with condition: gatehouse.enabled; add that condition there, or leave enabled out.',
    );
  });
});
