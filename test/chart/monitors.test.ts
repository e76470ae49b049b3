import type { V1Service } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { type Manifest, type Rendered, render } from './helm.ts';

type Endpoint = Readonly<Record<string, unknown>>;
interface Monitor extends Manifest {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly endpoints?: readonly Endpoint[];
    readonly podMetricsEndpoints?: readonly Endpoint[];
  };
}

/** What a monitor may say of an endpoint beside port and path. */
const more = {
  interval: '30s',
  scrapeTimeout: '10s',
  relabelings: [{ sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' }],
  metricRelabelings: [{ action: 'drop', regex: 'nodejs_.*', sourceLabels: ['__name__'] }],
};
const tlsConfig = { serverName: 'gatehouse.example.com', ca: { secret: { name: 'certificate', key: 'ca.crt' } } };

const isSelected = (rendered: Rendered, labels: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(rendered.all<Monitor>('ServiceMonitor')[0]?.spec.selector.matchLabels ?? {}).every(
    ([key, value]) => labels[key] === value,
  );

describe.each([
  ['ServiceMonitor', 'serviceMonitor', 'endpoints'],
  ['PodMonitor', 'podMonitor', 'podMetricsEndpoints'],
] as const)('the %s', (kind, value, endpoints) => {
  const monitor = async (monitored: object, values: object = {}): Promise<Monitor> =>
    (await render({ ...values, metrics: { [value]: { enabled: true, ...monitored } } })).one<Monitor>(kind);

  test('is made on request only', async () => {
    expect((await render()).all(kind)).toEqual([]);
  });

  test('scrapes /metrics by HTTP', async () => {
    const { spec } = await monitor({});
    expect(spec[endpoints]).toEqual([{ port: 'metrics', path: '/metrics', scheme: 'http' }]);
  });

  test('scrapes by HTTPS where the port speaks it, and checks the certificate as it is told', async () => {
    const { spec } = await monitor({ tlsConfig }, { tls: { existingSecret: 'certificate' } });
    expect(spec[endpoints]).toEqual([{ port: 'metrics', path: '/metrics', scheme: 'https', tlsConfig }]);
  });

  test('has the labels, times and relabelings that are set', async () => {
    const { spec, metadata } = await monitor({ ...more, labels: { release: 'prometheus' } });
    expect(spec[endpoints]).toEqual([{ port: 'metrics', path: '/metrics', scheme: 'http', ...more }]);
    expect(metadata.labels).toMatchObject({ release: 'prometheus', 'app.kubernetes.io/name': 'gatehouse' });
  });
});

test('the ServiceMonitor selects the metrics Service alone', async () => {
  const rendered = await render({ metrics: { serviceMonitor: { enabled: true } } });
  const selected = rendered.all<V1Service>('Service').filter(({ metadata }) => isSelected(rendered, metadata?.labels));
  expect(selected.map(({ metadata }) => metadata?.name)).toEqual(['gatehouse-metrics']);
});

test('the PodMonitor selects the replicas, and not the pod of helm test', async () => {
  const rendered = await render({ metrics: { podMonitor: { enabled: true } } });
  const { matchLabels } = rendered.one<Monitor>('PodMonitor').spec.selector;
  expect(rendered.template.metadata?.labels).toMatchObject(matchLabels);
  expect(matchLabels['app.kubernetes.io/name']).toBe('gatehouse');
});
