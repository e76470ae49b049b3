import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Deployment, V1PodDisruptionBudget, V1RoleBinding } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CHART, render, renderTest } from './helm.ts';

/** The scenario that sets all of it. */
const values = parse(readFileSync(join(CHART, 'ci', 'any-cluster-values.yaml'), 'utf8'));
const replicas = { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/instance': 'gatehouse' };

describe('the pod on any cluster', () => {
  test.each([
    ...(['imagePullSecrets', 'tolerations', 'affinity', 'priorityClassName', 'schedulerName'] as const),
    ...(['runtimeClassName', 'hostUsers', 'hostAliases', 'dnsPolicy', 'dnsConfig'] as const),
  ])('has the %s that are set, and by default none', async (name) => {
    expect((await render(values)).pod[name]).toEqual(values[name]);
    expect((await render()).pod[name]).toBeUndefined();
  });

  test('looks names up somewhere: dnsPolicy None needs servers', async () => {
    await expect(render({ dnsPolicy: 'None', dnsConfig: { searches: ['example.com'] } })).rejects.toThrow(
      ': dnsPolicy is None, but dnsConfig.nameservers is empty: the pods could look up no name; name the servers, or leave dnsPolicy out.\n',
    );
  });

  test('runs on Linux, and on the nodes that are chosen', async () => {
    expect((await render()).pod.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
    expect((await render(values)).pod.nodeSelector).toEqual({
      'kubernetes.io/os': 'linux',
      'node-role.kubernetes.io/infra': '',
    });
  });

  test('is spread as it is told, with the selector of the replicas where none is given', async () => {
    const own = { maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };
    const zones = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' };
    const { pod } = await render({ topologySpreadConstraints: [zones, own] });
    expect(pod.topologySpreadConstraints).toEqual([
      { ...zones, labelSelector: { matchLabels: replicas }, matchLabelKeys: ['pod-template-hash'] },
      own,
    ]);
  });

  test('has the labels and annotations that are set, beside the chart’s', async () => {
    const { metadata } = (await render(values)).template;
    expect(metadata?.labels).toEqual({ ...replicas, team: 'platform', 'cost-centre': '42' });
    expect(Object.keys(metadata?.annotations ?? {}).toSorted()).toEqual([
      'prometheus.io/path',
      'prometheus.io/port',
      'prometheus.io/scrape',
      'sidecar.istio.io/inject',
    ]);
  });

  test('has the variables that are set, after the chart’s', async () => {
    const [first, ...rest] = (await render(values)).container.env ?? [];
    expect(first?.name).toBe('NODE_OPTIONS');
    expect(rest).toEqual(values.extraEnv);
  });

  test('mounts the volumes that are set', async () => {
    const extraVolumes = [{ name: 'clients', secret: { secretName: 'oauth-clients' } }];
    const extraVolumeMounts = [{ name: 'clients', mountPath: '/clients', readOnly: true }];
    const { pod, container } = await render({ extraVolumes, extraVolumeMounts });
    expect(pod.volumes?.at(-1)).toEqual(extraVolumes[0]);
    expect(container.volumeMounts?.at(-1)).toEqual(extraVolumeMounts[0]);
  });

  test('leaves user and group to the cluster when they are null, and stays unprivileged', async () => {
    const { pod } = await render({ podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } });
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    const asRoot = render({ podSecurityContext: { runAsNonRoot: false } });
    await expect(asRoot).rejects.toThrow("at '/podSecurityContext/runAsNonRoot': value must be true");
    const privileged = render({ containerSecurityContext: { privileged: true } });
    await expect(privileged).rejects.toThrow("at '/containerSecurityContext/privileged': value must be false");
  });
});

describe('the Deployment', () => {
  test('has the strategy, history, labels and annotations that are set', async () => {
    const { spec, metadata } = (await render(values)).one<V1Deployment>('Deployment');
    expect(spec).toMatchObject({ revisionHistoryLimit: 10, strategy: { rollingUpdate: { maxSurge: 2 } } });
    expect(metadata?.annotations).toEqual({ ...values.deploymentAnnotations, ...values.commonAnnotations });
    expect(metadata?.labels).toMatchObject(values.deploymentLabels);
  });

  test('replaces all replicas at once when it is told', async () => {
    const { spec } = (await render({ updateStrategy: { type: 'Recreate' } })).one<V1Deployment>('Deployment');
    expect(spec?.strategy).toEqual({ type: 'Recreate' });
  });
});

describe('the budget', () => {
  const budget = async (podDisruptionBudget: object): Promise<V1PodDisruptionBudget['spec']> => {
    const many = { replicaCount: 3, sessions: { store: 'kubernetes' } };
    return (await render({ ...many, podDisruptionBudget })).one<V1PodDisruptionBudget>('PodDisruptionBudget').spec;
  };

  test.each([[{ minAvailable: 2 }], [{ minAvailable: '50%' }], [{ maxUnavailable: 2 }], [{ maxUnavailable: '34%' }]])(
    'is what is set: %j',
    async (limit) => {
      const { selector: _, unhealthyPodEvictionPolicy: __, ...limits } = (await budget(limit)) ?? {};
      expect(limits).toEqual(limit);
    },
  );

  test('can keep replicas that are not ready, and can be left out', async () => {
    const policy = { unhealthyPodEvictionPolicy: 'IfHealthyBudget' };
    expect(await budget(policy)).toMatchObject({ maxUnavailable: 1, ...policy });
    expect((await render({ podDisruptionBudget: { enabled: false } })).all('PodDisruptionBudget')).toEqual([]);
  });
});

describe('the service account', () => {
  test('has the name and annotations that are set, and the rights', async () => {
    const rendered = await render(values);
    const { annotations } = values.serviceAccount;
    expect(rendered.one('ServiceAccount').metadata).toMatchObject({ name: 'door-keeper', annotations });
    expect(rendered.pod.serviceAccountName).toBe('door-keeper');
    for (const kind of ['RoleBinding', 'ClusterRoleBinding'])
      expect(rendered.all<V1RoleBinding>(kind).flatMap(({ subjects }) => subjects ?? [])).toContainEqual({
        kind: 'ServiceAccount',
        name: 'door-keeper',
        namespace: 'gatehouse-system',
      });
  });

  test('and its rights can be somebody else’s', async () => {
    const rendered = await render({ serviceAccount: { create: false, name: 'reader' }, rbac: { create: false } });
    expect(rendered.pod.serviceAccountName).toBe('reader');
    expect(rendered.objects.map(({ kind }) => kind).filter((kind) => /Role|ServiceAccount/.test(kind))).toEqual([]);
  });
});

test('commonLabels are on every object', async () => {
  const labels = { team: 'platform' };
  const { objects, template } = await render({ commonLabels: labels, networkPolicy: { enabled: true } });
  for (const { metadata } of [...objects, template, await renderTest({ commonLabels: labels })])
    expect(metadata?.labels).toMatchObject(labels);
});
