import { describe, expect, test } from 'vitest';
import { type Manifest, render } from './helm.ts';

const image = 'registry.example.com/tools/proxy:1';
const sidecar = { name: 'proxy', image };

describe('further containers', () => {
  test('are after that of Gatehouse, which has its own place and no variable from elsewhere by default', async () => {
    const { pod, container } = await render({ extraContainers: [sidecar] });
    expect(pod.containers.map(({ name }) => name)).toEqual(['gatehouse', 'proxy']);
    expect(container.envFrom).toBeUndefined();
  });

  test('get the security context of Gatehouse, unless they have one', async () => {
    const own = { runAsUser: 1000 };
    const values = { extraContainers: [sidecar, { name: 'own', image, securityContext: own }] };
    const { pod, container } = await render({ ...values, initContainers: [{ name: 'first', image }] });
    expect(pod.containers.slice(1).map(({ securityContext }) => securityContext)).toEqual([
      container.securityContext,
      own,
    ]);
    expect(pod.initContainers).toEqual([{ name: 'first', image, securityContext: container.securityContext }]);
  });

  test('may mount the volumes that are added, and the chart’s', async () => {
    const volumeMounts = [
      { name: 'shared', mountPath: '/shared' },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'tls', mountPath: '/tls', readOnly: true },
    ];
    const { pod } = await render({
      tls: { existingSecret: 'certificate' },
      extraVolumes: [{ name: 'shared', emptyDir: {} }],
      initContainers: [{ ...sidecar, restartPolicy: 'Always', volumeMounts }],
    });
    expect(pod.initContainers?.[0]).toMatchObject({ restartPolicy: 'Always', volumeMounts });
  });

  test.each([
    [
      'of a name that the pod has',
      { initContainers: [sidecar], extraContainers: [{ ...sidecar, name: 'gatehouse' }] },
      'extraContainers has a container "gatehouse", but the pod has one of that name already; choose another name.',
    ],
    [
      'of one name in both lists',
      { initContainers: [sidecar], extraContainers: [sidecar] },
      'initContainers has a container "proxy", but the pod has one of that name already; choose another name.',
    ],
    [
      'on a port of Gatehouse',
      { extraContainers: [{ ...sidecar, ports: [{ containerPort: 9090 }] }] },
      'the container "proxy" of extraContainers has the port 9090, which is one of Gatehouse; choose another port and name.',
    ],
    [
      'on a port whose name the Service looks for',
      { extraContainers: [{ ...sidecar, ports: [{ name: 'api', containerPort: 8080 }] }] },
      'the container "proxy" of extraContainers has the port api, which is one of Gatehouse; choose another port and name.',
    ],
    [
      'with privileges',
      { initContainers: [{ ...sidecar, securityContext: { privileged: true } }] },
      'the container "proxy" of initContainers has securityContext.privileged: true, with which a namespace that enforces "restricted" lets in no pod; leave it out.',
    ],
    [
      'with a volume that is not there',
      { extraContainers: [{ ...sidecar, volumeMounts: [{ name: 'tls', mountPath: '/tls' }] }] },
      'the container "proxy" of extraContainers mounts the volume "tls", which the pod does not have; add it to extraVolumes.',
    ],
  ])('are refused %s', async (_, values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });
});

describe('the container of Gatehouse', () => {
  test('takes variables from ConfigMaps and Secrets, and keeps those of the chart', async () => {
    const envFrom = [{ configMapRef: { name: 'proxy', optional: true } }, { prefix: 'A_', secretRef: { name: 'b' } }];
    const { container } = await render({ envFrom });
    expect(container.envFrom).toEqual(envFrom);
    // Kubernetes lets a variable of env win over one of envFrom.
    expect(container.env?.[0]?.name).toBe('NODE_OPTIONS');
  });

  test('is asked as often as the probes say', async () => {
    const startup = { periodSeconds: 2, timeoutSeconds: 4, failureThreshold: 300 };
    const readiness = { periodSeconds: 7, timeoutSeconds: 6, failureThreshold: 3 };
    const liveness = { periodSeconds: 20, timeoutSeconds: 8, failureThreshold: 5 };
    const { container } = await render({ probes: { startup, readiness, liveness } });
    expect(container.startupProbe).toMatchObject({ ...startup, httpGet: { path: '/livez' } });
    expect(container.readinessProbe).toMatchObject({ ...readiness, httpGet: { path: '/readyz' } });
    expect(container.livenessProbe).toMatchObject({ ...liveness, httpGet: { path: '/livez' } });
    await expect(render({ probes: { liveness: { failureThreshold: 0 } } })).rejects.toThrow(
      "at '/probes/liveness/failureThreshold'",
    );
  });
});

describe('further objects', () => {
  const metadata = { name: '{{ include "gatehouse.fullname" . }}-extra', namespace: '{{ .Release.Namespace }}' };
  const named = { name: 'gatehouse-extra', namespace: 'gatehouse-system' };

  test('are part of the release, with the templates in them done, as maps and as texts', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { issuer: '{{ .Values.issuer }}' } };
    const text = `apiVersion: v1\nkind: Secret\nmetadata: ${JSON.stringify({ ...metadata, name: 'a' })}\n`;
    const values = { issuer: 'https://a.example.com/oauth', extraObjects: [map, text] };
    const { objects } = await render(values);
    const extra = objects.filter(({ metadata: { labels } }) => !labels);
    expect(extra).toHaveLength(2);
    expect(extra).toContainEqual({ ...map, metadata: named, data: { issuer: values.issuer } });
    expect(extra).toContainEqual({ apiVersion: 'v1', kind: 'Secret', metadata: { ...named, name: 'a' } });
  });

  test.each([
    ['kind', { apiVersion: 'v1', metadata }],
    ['apiVersion', 'kind: ConfigMap\nmetadata: {name: a}\n'],
    ['metadata', { apiVersion: 'v1', kind: 'ConfigMap', data: {} }],
  ])('are refused without %s', async (field, object) => {
    const good: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'good' } };
    await expect(render({ extraObjects: [good, object] })).rejects.toThrow(
      `: extraObjects[1] has no ${field}; write a whole object, each as an entry of its own.\n`,
    );
  });
});
