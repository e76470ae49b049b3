import type { V1ConfigMap, V1Deployment, V1PodDisruptionBudget } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { NOT_PRUNED, render } from './helm.ts';

const everything = {
  users: { existingSecret: 'people' },
  oauth: { client: { existingSecret: 'console-client' } },
  tls: { existingSecret: 'certificate' },
};

const GATEWAY = { enabled: true, users: ['ada'] };

describe('the pod is "restricted"', () => {
  test('8.2 runs as user and group 65532, never as root, under the runtime’s seccomp profile', async () => {
    expect((await render()).pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  test('8.2 its container cannot gain privileges, has no capability and a read-only root file system', async () => {
    expect((await render()).container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('8.2 it uses no namespace, port or path of the host', async () => {
    const { pod } = await render(everything);
    expect([pod.hostNetwork, pod.hostPID, pod.hostIPC, pod.hostUsers]).toEqual(Array(4).fill(undefined));
    expect(pod.containers.flatMap(({ ports }) => ports ?? []).filter(({ hostPort }) => hostPort)).toEqual([]);
    expect(pod.volumes?.filter(({ hostPath }) => hostPath)).toEqual([]);
  });

  test('8.2 it has one container and no other kind of container', async () => {
    const { pod } = await render(everything);
    expect([pod.containers.length, pod.initContainers, pod.ephemeralContainers]).toEqual([1, undefined, undefined]);
  });

  test('8.2 it can write to /tmp only, which is bounded', async () => {
    const { pod, container } = await render(everything);
    const writable = container.volumeMounts?.filter(({ readOnly }) => !readOnly);
    expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
    expect(pod.volumes?.find(({ name }) => name === 'tmp')).toEqual({ name: 'tmp', emptyDir: { sizeLimit: '16Mi' } });
  });
});

describe('the service account’s token', () => {
  test('8.2 is not mounted by default, but projected, with an hour of life, the CA and the namespace', async () => {
    const rendered = await render();
    expect(rendered.one('ServiceAccount')).toMatchObject({ automountServiceAccountToken: false });
    expect(rendered.pod.automountServiceAccountToken).toBe(false);
    expect(rendered.pod.volumes?.find(({ name }) => name === 'service-account')?.projected?.sources).toEqual([
      { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ]);
  });

  test('8.2 is where in-cluster clients look for it', async () => {
    const mount = (await render()).container.volumeMounts?.find(({ name }) => name === 'service-account');
    expect(mount?.mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
  });
});

describe('memory and CPU', () => {
  test('8.2 are requested and limited, and the heap is a stated share of the limit', async () => {
    const { container } = await render();
    expect(container.resources).toEqual({
      requests: { cpu: '100m', memory: '256Mi' },
      limits: { cpu: '2', memory: '512Mi' },
    });
    expect(container.env).toEqual([
      { name: 'NODE_OPTIONS', value: '--max-old-space-size-percentage=60 --max-semi-space-size=8' },
    ]);
  });

  test('8.2 a pod without a memory limit is refused', async () => {
    await expect(render({ resources: { limits: { memory: null } } })).rejects.toThrow(
      "at '/resources/limits': missing property 'memory'",
    );
  });
});

describe('availability', () => {
  test('8.2 an upgrade starts the new replica before it ends the old one', async () => {
    const { strategy, replicas } = (await render()).one<V1Deployment>('Deployment').spec!;
    expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    expect(replicas).toBe(1);
  });

  test('8.2 a budget lets one replica go at a time', async () => {
    expect((await render()).one<V1PodDisruptionBudget>('PodDisruptionBudget').spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { 'app.kubernetes.io/name': 'gatehouse', 'app.kubernetes.io/instance': 'gatehouse' } },
    });
  });

  test('8.2 replicas are spread over nodes', async () => {
    const [constraint] = (await render()).pod.topologySpreadConstraints!;
    expect(constraint).toMatchObject({
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
    });
  });

  test('8.2 startup, readiness and liveness are probed, readiness by /readyz', async () => {
    const { startupProbe, readinessProbe, livenessProbe } = (await render()).container;
    expect(startupProbe).toMatchObject({ httpGet: { path: '/livez', port: 'api', scheme: 'HTTP' } });
    expect(readinessProbe).toMatchObject({ httpGet: { path: '/readyz', port: 'api', scheme: 'HTTP' } });
    expect(livenessProbe).toMatchObject({ httpGet: { path: '/livez', port: 'api', scheme: 'HTTP' } });
  });

  test('8.2 the grace period is 50 s: a delay of 15 s, 30 s of drain and 5 s', async () => {
    const rendered = await render();
    expect(rendered.pod.terminationGracePeriodSeconds).toBe(50);
    expect(rendered.config).toMatchObject({ server: { shutdownDelay: '15s' } });
  });

  test('8.2 the grace period follows a longer delay', async () => {
    const rendered = await render({ config: { server: { shutdownDelay: '40s' } } });
    expect(rendered.pod.terminationGracePeriodSeconds).toBe(75);
  });

  test.each([
    ['with the gateway: streams have 60 s', { gateway: GATEWAY }, 80],
    ['with other times', { gateway: GATEWAY, config: { server: { shutdownDelay: '10s', streamDrain: '300s' } } }, 315],
    ['with a short one, as requests have 30 s', { gateway: GATEWAY, config: { server: { streamDrain: '0s' } } }, 50],
    ['without the gateway', { config: { server: { streamDrain: '300s' } } }, 50],
  ])('8.2 R-07 the grace period follows server.streamDrain: %s', async (_, values, seconds) => {
    expect((await render(values)).pod.terminationGracePeriodSeconds).toBe(seconds);
  });

  test('R-24 the configuration file is in an immutable ConfigMap that its content names, so another file means new pods', async () => {
    const named = async (values: object): Promise<string> => {
      const rendered = await render(values);
      const { metadata, immutable } = rendered.one<V1ConfigMap>('ConfigMap');
      expect(rendered.pod.volumes?.find(({ name }) => name === 'config')?.configMap).toEqual({ name: metadata!.name! });
      expect(immutable).toBe(true);
      return metadata!.name!;
    };
    const name = await named({});
    expect(name).toMatch(/^gatehouse-config-[0-9a-f]{10}$/);
    expect(await named({ image: { tag: '0.2.0' } })).toBe(name);
    expect(await named({ config: { log: { level: 'debug' } } })).not.toBe(name);
  });

  test('R-24 the configuration file is deleted neither by Helm nor by Argo CD or Flux when another one follows', async () => {
    const { metadata } = (await render()).one<V1ConfigMap>('ConfigMap');
    expect(metadata!.annotations).toEqual({ 'helm.sh/resource-policy': 'keep', ...NOT_PRUNED });
  });

  test('selectors carry no version, since an upgrade cannot change them', async () => {
    const { selector } = (await render()).one<V1Deployment>('Deployment').spec!;
    expect(selector.matchLabels).toEqual({
      'app.kubernetes.io/name': 'gatehouse',
      'app.kubernetes.io/instance': 'gatehouse',
    });
  });
});

describe('serving certificate', () => {
  test('8.2 tls.existingSecret makes the API port and its probes HTTPS', async () => {
    const { container, config } = await render({ tls: { existingSecret: 'certificate' } });
    const folder = '/var/run/secrets/gatehouse/tls';
    expect(config).toMatchObject({ server: { tls: { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` } } });
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
      expect(probe?.httpGet?.scheme).toBe('HTTPS');
  });
});
