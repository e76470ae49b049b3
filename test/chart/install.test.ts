import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Deployment, V1Pod, V1PodTemplateSpec, V1Secret, V1Service } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm, NAMESPACE, Rendered } from './helm.ts';

const SCENARIOS = readdirSync(join(CHART, 'ci'));

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
};

/** The class of the scenario any-cluster, without which the cluster lets in no pod that names it. */
const SANDBOX = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'sandbox' },
  handler: 'sandbox',
};

/** As the program makes them: a Secret that the chart does not know of. */
const secret = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: NAMESPACE },
  stringData: { content: name },
});

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane();
  await apply(namespace);
  await apply(SANDBOX);
  // A controller would make it: the account of pods that name none.
  await cluster.kubectl(['-n', NAMESPACE, 'create', 'serviceaccount', 'default']);
});
afterAll(() => cluster?.stop());

const apply = (object: object): Promise<string> => cluster.kubectl(['apply', '-f', '-'], JSON.stringify(object));

async function get<T>(kind: string, name = 'gatehouse'): Promise<T> {
  return JSON.parse(await cluster.kubectl(['-n', NAMESPACE, 'get', kind, name, '-o', 'json'])) as T;
}

async function release(
  verb: 'install' | 'upgrade',
  values: object,
  { name = 'gatehouse', tool = 'helm' as 'helm' | 'helm3' } = {},
): Promise<void> {
  const args = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', NAMESPACE, '--values', '-'];
  await helm([verb, name, CHART, ...args], JSON.stringify(values), tool);
}

async function uninstall(name: string, tool: 'helm' | 'helm3' = 'helm'): Promise<void> {
  const args = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', NAMESPACE, 'uninstall', name];
  await helm(args, undefined, tool);
}

/** An uninstall that leaves no configuration either, so that other tests may make objects of the same names. */
async function remove(name: string, tool: 'helm' | 'helm3' = 'helm'): Promise<void> {
  await uninstall(name, tool);
  await cluster.kubectl(['delete', 'configmap', '-A', '-l', `app.kubernetes.io/instance=${name}`]);
}

const valuesOf = (scenario: string): object =>
  parse(readFileSync(join(CHART, 'ci', `${scenario}-values.yaml`), 'utf8'));

/** What cert-manager installs, as far as the API server has to know it to store a Certificate. */
const CERTIFICATES = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'certificates.cert-manager.io' },
  spec: {
    group: 'cert-manager.io',
    scope: 'Namespaced',
    names: { plural: 'certificates', singular: 'certificate', kind: 'Certificate', listKind: 'CertificateList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** Each Secret's version, data and all; Helm's own records of its releases aside. */
async function secrets(): Promise<string[]> {
  const { items } = JSON.parse(await cluster.kubectl(['-n', NAMESPACE, 'get', 'secrets', '-o', 'json'])) as {
    items: V1Secret[];
  };
  return items
    .filter(({ type }) => type !== 'helm.sh/release.v1')
    .map(({ metadata, data }) => JSON.stringify([metadata?.name, metadata?.uid, metadata?.resourceVersion, data]));
}

/** The pod that the Deployment's controller would make. */
function podOf(template: V1PodTemplateSpec): V1Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name: 'gatehouse-of-the-test', namespace: NAMESPACE },
    spec: template.spec!,
  };
}

describe('helm on a real API server', () => {
  let before: string[];
  let nodePort: number | undefined;

  test('installs, and the cluster chooses a node port', async () => {
    await release('install', {});
    const { spec } = await get<V1Service>('service');
    nodePort = spec?.ports?.[0]?.nodePort;
    expect(spec).toMatchObject({ type: 'NodePort', ports: [{ port: 80, targetPort: 'api' }] });
    expect(nodePort).toBeGreaterThanOrEqual(30_000);
  });

  test('stores the Deployment as it was rendered', async () => {
    const { spec } = await get<V1Deployment>('deployment');
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: { spec: { terminationGracePeriodSeconds: 50, automountServiceAccountToken: false } },
    });
  });

  test('8.2 the pod is let into a namespace that enforces "restricted"', async () => {
    const { spec } = await get<V1Deployment>('deployment');
    const pod = podOf(spec!.template);
    const answer = await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify(pod));
    expect(answer).toContain('pod/gatehouse-of-the-test created (server dry run)');
  });

  test('8.2 that namespace refuses the pod once it may gain privileges', async () => {
    const { spec } = await get<V1Deployment>('deployment');
    const pod = podOf(spec!.template);
    pod.spec!.containers[0]!.securityContext!.allowPrivilegeEscalation = true;
    const answer = cluster.kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify(pod));
    await expect(answer).rejects.toThrow('violates PodSecurity "restricted:latest"');
  });

  test('8.2 makes no Secret', async () => {
    expect(await secrets()).toEqual([]);
  });

  test('an upgrade changes no Secret', async () => {
    await apply(secret('gatehouse-signing-keys'));
    await apply(secret('gatehouse-first-administrator'));
    before = await secrets();
    await release('upgrade', { config: { log: { level: 'debug' } }, image: { tag: '0.1.1' } });
    expect((await get<V1Deployment>('deployment')).spec?.template.spec?.containers[0]?.image).toMatch(/:0\.1\.1$/);
    expect(before).toHaveLength(2);
    expect(await secrets()).toEqual(before);
  });

  test('an upgrade keeps the node port', async () => {
    expect((await get<V1Service>('service')).spec?.ports?.[0]?.nodePort).toBe(nodePort);
  });

  test('an upgrade can set the node port', async () => {
    await release('upgrade', { service: { nodePort: 30_880 } });
    expect((await get<V1Service>('service')).spec?.ports?.[0]?.nodePort).toBe(30_880);
  });

  test('8.2 an uninstall leaves the program’s Secrets and the configuration, and nothing else', async () => {
    await uninstall('gatehouse');
    const kinds = 'deployment,service,serviceaccount,role,rolebinding,pdb,clusterrole,clusterrolebinding';
    const labels = 'app.kubernetes.io/instance=gatehouse';
    expect(await cluster.kubectl(['-n', NAMESPACE, 'get', kinds, '-l', labels, '-o', 'name'])).toBe('');
    expect(await secrets()).toEqual(before);
    const configMaps = await cluster.kubectl(['-n', NAMESPACE, 'get', 'configmap', '-l', labels, '-o', 'name']);
    expect(configMaps.trim().split('\n')).toEqual([
      expect.stringMatching(/^configmap\/gatehouse-config-/),
      expect.stringMatching(/^configmap\/gatehouse-config-/),
    ]);
  });

  test('Helm 3 installs what Helm 4 does, upgrades and uninstalls it', async () => {
    const by3 = { name: 'three', tool: 'helm3' } as const;
    await release('install', {}, by3);
    const first = await get<V1Deployment>('deployment', 'three-gatehouse');
    await release('upgrade', { image: { tag: '0.1.1' } }, by3);
    const second = await get<V1Deployment>('deployment', 'three-gatehouse');
    expect([first, second].map(({ spec }) => spec?.template.spec?.containers[0]?.image?.split(':')[1])).toEqual([
      '0.1.0',
      '0.1.1',
    ]);
    await remove('three', 'helm3');
    await expect(get('deployment', 'three-gatehouse')).rejects.toThrow('not found');
  });

  test.each(['autoscaling', 'sidecars', 'ingress-paths', 'cluster-ip', 'any-cluster', 'load-balancer'])(
    'Helm 4 installs the scenario %s, and the cluster has each of its objects',
    async (scenario) => {
      await release('install', valuesOf(scenario), { name: 'scenario' });
      const manifest = await helm([
        ...['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', NAMESPACE],
        ...['get', 'manifest', 'scenario'],
      ]);
      const stored = await cluster.kubectl(['get', '-o', 'name', '-f', '-'], manifest);
      expect(stored.trim().split('\n')).toHaveLength(new Rendered(manifest).objects.length);
      await remove('scenario');
    },
  );

  test('Helm 4 switches autoscaling on, which begins with one replica, and the number is no longer Helm’s', async () => {
    const replicas = async (): Promise<number | undefined> =>
      (await get<V1Deployment>('deployment', 'scaled-gatehouse')).spec?.replicas;
    await release('install', { replicaCount: 3 }, { name: 'scaled' });
    await release('upgrade', { autoscaling: { enabled: true } }, { name: 'scaled' });
    expect(await replicas()).toBe(1);
    await cluster.kubectl(['-n', NAMESPACE, 'scale', 'deployment/scaled-gatehouse', '--replicas=4']);
    await release('upgrade', { autoscaling: { enabled: true }, image: { tag: '0.1.1' } }, { name: 'scaled' });
    expect(await replicas()).toBe(4);
    await remove('scaled');
  });

  test('Helm 4 installs a Certificate, for the Secret that the pods mount', async () => {
    await apply(CERTIFICATES);
    await cluster.kubectl(['wait', '--for=condition=Established', 'crd/certificates.cert-manager.io']);
    const tls = { certManager: { issuerRef: { name: 'company-ca' } } };
    await release('install', { tls }, { name: 'certified' });
    const certificate = await get<{ readonly spec: { readonly secretName: string } }>(
      'certificate',
      'certified-gatehouse',
    );
    const { spec } = await get<V1Deployment>('deployment', 'certified-gatehouse');
    const mounted = spec?.template.spec?.volumes?.find(({ name }) => name === 'tls');
    expect(mounted?.secret?.secretName).toBe(certificate.spec.secretName);
    await remove('certified');
  });

  test('namespaceOverride puts the objects into another namespace, and Helm’s record stays', async () => {
    await cluster.kubectl(['create', 'namespace', 'access']);
    await release('install', { namespaceOverride: 'access' }, { name: 'elsewhere' });
    const found = await cluster.kubectl(['-n', 'access', 'get', 'deployment,service,role', '-o', 'name']);
    expect(found.trim().split('\n').toSorted()).toEqual([
      'deployment.apps/elsewhere-gatehouse',
      'role.rbac.authorization.k8s.io/elsewhere-gatehouse',
      'service/elsewhere-gatehouse',
      'service/elsewhere-gatehouse-metrics',
    ]);
    await remove('elsewhere');
    expect(await cluster.kubectl(['-n', 'access', 'get', 'deployment,service,role', '-o', 'name'])).toBe('');
  });

  test.each(SCENARIOS)(
    'every field of the scenario %s is known to the server, which lets the pod of helm test in',
    async (file) => {
      const args = ['template', 'other', CHART, '--namespace', NAMESPACE, '--values', join(CHART, 'ci', file)];
      const { objects } = new Rendered(await helm(args));
      const builtIn = objects.filter(
        ({ apiVersion }) => !/^(monitoring\.coreos\.com|gateway\.networking|cert-manager\.io)/.test(apiVersion),
      );
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: builtIn });
      const answer = await cluster.kubectl(['create', '--dry-run=server', '--validate=strict', '-f', '-'], list);
      expect(answer.match(/created \(server dry run\)/g)).toHaveLength(builtIn.length);
    },
  );

  test('the kustomize base applies, every field known to the server', async () => {
    const folder = join(import.meta.dirname, '..', '..', 'deploy');
    const answer = await cluster.kubectl(['apply', '--dry-run=server', '--validate=strict', '-k', folder]);
    expect(answer.trim().split('\n')).toHaveLength(13);
  });
});
