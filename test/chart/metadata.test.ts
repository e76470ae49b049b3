import { rm } from 'node:fs/promises';
import type { V1ConfigMap, V1Deployment, V1Service } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { CHART, helm, type Manifest, NAMESPACE, notes, Rendered, render, renderTest } from './helm.ts';
import { umbrellaChart } from './umbrella.ts';

/** Makes every object that the chart can make, except those of the gateway. */
const EVERYTHING = {
  accounts: { enabled: true },
  gateway: { enabled: true, users: ['ada'], accounts: { enabled: true } },
  ingress: { enabled: true, hosts: ['gatehouse.example.com'] },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
  issuer: 'https://gatehouse.example.com/oauth',
  autoscaling: { enabled: true },
  tls: { certManager: { issuerRef: { name: 'company-ca' } } },
  networkPolicy: { enabled: true },
  logging: { host: 'https://opensearch.logging.svc:9200' },
  metrics: { podMonitor: { enabled: true, tlsConfig: { serverName: 'gatehouse.example.com' } } },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
};
const owner = { 'example.com/owner': 'platform' };

describe('annotations', () => {
  test('commonAnnotations are on every object, beside its own, and not on the pods of the Deployment', async () => {
    const values = { ...EVERYTHING, commonAnnotations: owner };
    const rendered = await render(values);
    expect(rendered.objects.length).toBeGreaterThan(25);
    for (const { metadata } of [...rendered.objects, await renderTest(values)])
      expect(metadata?.annotations).toMatchObject(owner);
    expect(rendered.one('CustomResourceDefinition', 'users.iam.gatehouse.io').metadata.annotations).toEqual({
      'helm.sh/resource-policy': 'keep',
      ...owner,
    });
    expect(rendered.template.metadata?.annotations).not.toHaveProperty('example.com/owner');
  });

  test('of the configuration’s ConfigMap that keep it are not replaced by common ones', async () => {
    const prune = { 'argocd.argoproj.io/sync-options': 'ServerSideApply=true' };
    const rendered = await render({ commonAnnotations: { ...prune, ...owner } });
    const { metadata } = rendered.one<V1ConfigMap>('ConfigMap');
    expect(metadata?.annotations).toMatchObject({ 'argocd.argoproj.io/sync-options': 'Prune=false', ...owner });
    expect(rendered.one('Deployment').metadata.annotations).toEqual({ ...prune, ...owner });
  });

  test.each([
    [
      { commonAnnotations: { 'helm.sh/resource-policy': 'keep' } },
      'commonAnnotations has helm.sh/resource-policy, which Helm reads; choose another annotation.',
    ],
    [
      { commonAnnotations: { 'gatehouse.io/creator': 'me' } },
      'commonAnnotations has gatehouse.io/creator, which Gatehouse reads; choose another annotation.',
    ],
    [
      { commonAnnotations: owner, service: { annotations: owner } },
      'service.annotations has the annotation example.com/owner, and so has commonAnnotations; set it in one of them.',
    ],
    [
      { metrics: { service: false, serviceAnnotations: owner } },
      'metrics.serviceAnnotations is set, but metrics.service is false; set metrics.service to true or leave metrics.serviceAnnotations out.',
    ],
  ])('that contradict each other are refused: %j', async (values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });
});

describe('labels', () => {
  test('of the Deployment are not on its pods', async () => {
    const { one, template } = await render({ deploymentLabels: { tier: 'access' } }).then((rendered) => ({
      one: rendered.one<V1Deployment>('Deployment'),
      template: rendered.template,
    }));
    expect(one.metadata?.labels).toMatchObject({ tier: 'access', 'app.kubernetes.io/name': 'gatehouse' });
    expect(template.metadata?.labels).not.toHaveProperty('tier');
    await expect(render({ commonLabels: { tier: 'a' }, deploymentLabels: { tier: 'b' } })).rejects.toThrow(
      ': deploymentLabels has the label tier, and so has commonLabels; set it in one of them.\n',
    );
  });

  test('and annotations of the metrics Service are its own', async () => {
    const set = { serviceLabels: { zone: 'internal' }, serviceAnnotations: owner };
    const rendered = await render({ metrics: set });
    expect(rendered.one<V1Service>('Service', 'gatehouse-metrics').metadata).toMatchObject({
      labels: { zone: 'internal' },
      annotations: owner,
    });
    expect(rendered.one<V1Service>('Service', 'gatehouse').metadata?.annotations).toBeUndefined();
  });
});

describe('namespaceOverride', () => {
  const elsewhere = { ...EVERYTHING, namespaceOverride: 'access' };

  test('renders what a release in that namespace renders', async () => {
    const args = ['template', 'gatehouse', CHART, '--namespace', 'access', '--skip-tests', '--values', '-'];
    const there = new Rendered(await helm(args, JSON.stringify(EVERYTHING)));
    expect((await render(elsewhere)).text).toBe(there.text);
    expect(there.text).not.toContain(NAMESPACE);
  });

  test('leaves it to Helm in which namespace the release is', async () => {
    const lines = await notes({ namespaceOverride: 'access' });
    expect(lines).toContain(`To see that it works: helm test gatehouse -n ${NAMESPACE}`);
    expect(lines[0]).toContain('gatehouse.access.svc');
  });

  test('is that of one chart among several in a release', async () => {
    const folder = await umbrellaChart(['gatehouse', 'blue']);
    try {
      const args = ['template', 'first', folder, '--namespace', NAMESPACE, '--skip-tests', '--values', '-'];
      const values = { gatehouse: { namespaceOverride: 'access' }, blue: { platform: 'kubesphere' } };
      const { objects } = new Rendered(await helm(args, JSON.stringify(values)));
      const places = objects
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(places.toSorted()).toEqual(['access/first-gatehouse', `${NAMESPACE}/first-blue`]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

interface Monitor extends Manifest {
  readonly spec: Readonly<Record<string, unknown>>;
}

describe.each([
  ['ServiceMonitor', 'serviceMonitor', 'endpoints'],
  ['PodMonitor', 'podMonitor', 'podMetricsEndpoints'],
] as const)('the %s', (kind, value, endpoints) => {
  const monitor = async (monitored: object): Promise<Monitor> =>
    (await render({ metrics: { [value]: { enabled: true, ...monitored } } })).one<Monitor>(kind);

  test('in the namespace of Prometheus selects in that of the release, which its name has', async () => {
    const { metadata, spec } = await monitor({ namespace: 'monitoring', annotations: owner });
    expect(metadata).toMatchObject({ namespace: 'monitoring', name: `${NAMESPACE}-gatehouse`, annotations: owner });
    expect(spec['namespaceSelector']).toEqual({ matchNames: [NAMESPACE] });
  });

  test('has no selector of namespaces beside the pods, and lets labels of samples win only where that is set', async () => {
    const { metadata, spec } = await monitor({ honorLabels: true, namespace: NAMESPACE });
    expect(metadata.name).toBe('gatehouse');
    expect(spec['namespaceSelector']).toBeUndefined();
    expect(spec[endpoints]).toEqual([{ port: 'metrics', path: '/metrics', scheme: 'http', honorLabels: true }]);
  });
});
