import type { V1NetworkPolicy, V1Service } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { render, renderTest } from './helm.ts';

describe('the Service', () => {
  test('is a NodePort from 80 to the API port, the node port left to the cluster', async () => {
    expect((await render()).one<V1Service>('Service', 'gatehouse').spec).toEqual({
      type: 'NodePort',
      externalTrafficPolicy: 'Cluster',
      selector: { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/instance': 'gatehouse' },
      ports: [{ name: 'api', port: 80, targetPort: 'api', protocol: 'TCP' }],
    });
  });

  test('has the node port that is set', async () => {
    const service = (await render({ service: { nodePort: 30880 } })).one<V1Service>('Service', 'gatehouse');
    expect(service.spec?.ports?.[0]?.nodePort).toBe(30880);
  });

  test('8.2 externalTrafficPolicy is a value, and left out where it has no meaning', async () => {
    const policy = async (service: object): Promise<unknown> =>
      (await render({ service })).one<V1Service>('Service', 'gatehouse').spec?.externalTrafficPolicy;
    expect(await policy({ externalTrafficPolicy: 'Local' })).toBe('Local');
    expect(await policy({ type: 'ClusterIP' })).toBeUndefined();
  });

  test('has the annotations, labels and kind of load balancer that are set', async () => {
    const service = {
      type: 'LoadBalancer',
      annotations: { 'example.com/a': 'b' },
      labels: { zone: 'public' },
      clusterIP: '10.0.0.99',
      loadBalancerIP: '192.0.2.7',
      loadBalancerClass: 'internal',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
    };
    const { metadata, spec } = (await render({ service })).one<V1Service>('Service', 'gatehouse');
    const { type, annotations, labels, ...rest } = service;
    expect(metadata).toMatchObject({ annotations, labels });
    expect(spec).toMatchObject({ type, ...rest });
  });

  test('sends an address to one replica when it is told, and by default says nothing of it', async () => {
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 600 } };
    const affinity = async (service: object): Promise<unknown> => {
      const { spec } = (await render({ service })).one<V1Service>('Service', 'gatehouse');
      return [spec?.sessionAffinity, spec?.sessionAffinityConfig];
    };
    expect(await affinity({ sessionAffinity: 'ClientIP', sessionAffinityConfig })).toEqual([
      'ClientIP',
      sessionAffinityConfig,
    ]);
    expect(await affinity({ sessionAffinity: 'ClientIP' })).toEqual(['ClientIP', undefined]);
    expect(await affinity({})).toEqual([undefined, undefined]);
    await expect(affinity({ sessionAffinityConfig })).rejects.toThrow(
      ': service.sessionAffinityConfig is set, but service.sessionAffinity is None; set service.sessionAffinity to ClientIP, or leave service.sessionAffinityConfig out.\n',
    );
  });

  test('has an address of its own, since callers know service.port and not that of the pods', async () => {
    await expect(render({ service: { type: 'ClusterIP', clusterIP: 'None' } })).rejects.toThrow(
      ': service.clusterIP is None: callers would reach the pods on their own port, and not on service.port; name an address, or leave service.clusterIP out.\n',
    );
    await expect(render({ service: { loadBalancerIP: '192.0.2.7' } })).rejects.toThrow(
      ': service.loadBalancerIP is set, but service.type is NodePort; set service.type to LoadBalancer or leave service.loadBalancerIP out.\n',
    );
  });

  test('has families of addresses only where they are set, and two of them not with one alone', async () => {
    expect((await render()).one<V1Service>('Service', 'gatehouse').spec?.ipFamilies).toBeUndefined();
    const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] };
    await expect(render({ service: single })).rejects.toThrow(
      'service.ipFamilies has two families, but service.ipFamilyPolicy is SingleStack; name one of them, or set service.ipFamilyPolicy to PreferDualStack.',
    );
    await expect(render({ service: { ipFamilies: ['ipv4'] } })).rejects.toThrow("at '/service/ipFamilies/0'");
  });

  test('8.2 does not show the metrics port', async () => {
    const { spec } = (await render()).one<V1Service>('Service', 'gatehouse');
    expect(spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(['api']);
  });
});

describe('metrics', () => {
  test('8.2 have a Service of their own that is reachable inside the cluster only', async () => {
    expect((await render()).one<V1Service>('Service', 'gatehouse-metrics').spec).toEqual({
      type: 'ClusterIP',
      selector: { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/instance': 'gatehouse' },
      ports: [{ name: 'metrics', port: 9091, targetPort: 'metrics', protocol: 'TCP' }],
    });
  });

  test('are announced by annotations of the pods', async () => {
    expect((await render()).template.metadata?.annotations).toMatchObject({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9091',
      'prometheus.io/path': '/metrics',
    });
  });

  test('are announced with their scheme where the port speaks HTTPS', async () => {
    const scheme = async (values: object): Promise<string | undefined> =>
      (await render(values)).template.metadata?.annotations?.['prometheus.io/scheme'];
    expect([await scheme({}), await scheme({ tls: { existingSecret: 'certificate' } })]).toEqual([undefined, 'https']);
  });

  test('can be switched off', async () => {
    const rendered = await render({ metrics: { service: false, annotations: false } });
    expect(rendered.all('Service')).toHaveLength(1);
    expect(rendered.text).not.toContain('prometheus.io');
  });
});

describe('the NetworkPolicy', () => {
  const policy = async (networkPolicy: object): Promise<V1NetworkPolicy['spec']> =>
    (await render({ networkPolicy: { enabled: true, ...networkPolicy } })).one<V1NetworkPolicy>('NetworkPolicy').spec;

  test('8.2 is off by default', async () => {
    expect((await render()).all('NetworkPolicy')).toEqual([]);
  });

  test('8.2 lets everybody in at the API port, one namespace at the metrics port, and DNS and the API server out', async () => {
    expect(await policy({})).toEqual({
      podSelector: {
        matchLabels: { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/instance': 'gatehouse' },
      },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: [{ port: 'api', protocol: 'TCP' }] },
        {
          ports: [{ port: 'metrics', protocol: 'TCP' }],
          from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
        },
      ],
      egress: [
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
            { port: 5353, protocol: 'UDP' },
            { port: 5353, protocol: 'TCP' },
          ],
        },
        {
          ports: [
            { port: 443, protocol: 'TCP' },
            { port: 6443, protocol: 'TCP' },
          ],
        },
      ],
    });
  });

  test('8.2 restricts the API port to the peers that are given and to the pod of helm test', async () => {
    const from = [{ podSelector: { matchLabels: { app: 'console' } } }];
    const { labels: { 'helm.sh/chart': _, 'app.kubernetes.io/managed-by': __, ...own } = {} } =
      (await renderTest()).metadata ?? {};
    expect((await policy({ from }))?.ingress?.[0]).toEqual({
      ports: [{ port: 'api', protocol: 'TCP' }],
      from: [...from, { podSelector: { matchLabels: own } }],
    });
  });

  test('8.2 lets out to the peers of DNS that are named, at the ports of DNS', async () => {
    const dnsTo = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }];
    expect((await policy({ egress: { dnsPorts: [53], dnsTo } }))?.egress?.[0]).toEqual({
      ports: [
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ],
      to: dnsTo,
    });
  });

  test('8.2 lets out to the API server’s ports and peers, and by further rules', async () => {
    const to = [{ ipBlock: { cidr: '10.0.0.0/28' } }];
    const proxy = { ports: [{ port: 3128, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.0.7/32' } }] };
    const egress = { ports: [6443], to, extraRules: [proxy] };
    expect((await policy({ egress }))?.egress?.slice(1)).toEqual([
      { ports: [{ port: 6443, protocol: 'TCP' }], to },
      proxy,
    ]);
  });
});
