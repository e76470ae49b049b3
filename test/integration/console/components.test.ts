import { expect, test } from 'vitest';
import { type ConsoleStand, RESOURCES, startConsole } from './console-stand.ts';

const COMPONENTS = `${RESOURCES}/v1alpha2/components`;
const CONTROLLER = 'endpointslice-controller.k8s.io';

type BackEnds = Readonly<Record<string, boolean | undefined>>;

function slice(
  stand: ConsoleStand,
  [namespace, service, name]: readonly string[],
  pods: BackEnds,
  by = CONTROLLER,
): void {
  stand.cluster.objects.create('endpointslices', {
    metadata: {
      ...{ namespace: namespace ?? '', name: `${service}-${name}` },
      labels: { 'kubernetes.io/service-name': service ?? '', 'endpointslice.kubernetes.io/managed-by': by },
    },
    endpoints: Object.entries(pods).map(([pod, ready]) => ({
      ...{ addresses: ['192.0.2.1'], targetRef: { kind: 'Pod', name: pod } },
      conditions: ready === undefined ? {} : { ready },
    })),
  });
}

async function startWithServices(): Promise<ConsoleStand> {
  const stand = await startConsole();
  stand.namespace('kubesphere-system');
  stand.namespace('shop');
  slice(stand, ['kube-system', 'kube-dns', 'four'], { 'dns-a': true, 'dns-b': false, 'dns-c': undefined });
  slice(stand, ['kube-system', 'kube-dns', 'six'], { 'dns-a': true, 'dns-b': false });
  slice(stand, ['kube-system', 'kubelet', 'x'], { 'node-a': true }, 'endpointslicemirroring-controller.k8s.io');
  slice(stand, ['kubesphere-system', 'gatehouse', 'x'], {});
  slice(stand, ['shop', 'web', 'x'], { web: true });
  return stand;
}

test('CO-08 are the Services of the system, each pod counted once', async () => {
  const stand = await startWithServices();
  const { status, body } = await stand.ask(COMPONENTS, 'ada');
  const brief = body.map((one: Record<string, unknown>) =>
    [one['namespace'], one['name'], one['healthyBackends'], one['totalBackends']].join(' '),
  );
  expect([status, brief]).toEqual([200, ['kube-system kube-dns 2 3', 'kubesphere-system gatehouse 0 0']]);
  const one = await stand.ask(`${COMPONENTS}/kube-dns`, 'ada');
  expect(one.body).toEqual(body[0]);
  expect(one.body.selfLink).toBe('/api/v1/namespaces/kube-system/services/kube-dns');
  expect((await stand.ask(`${COMPONENTS}/web`, 'ada')).status).toBe(404);
});

test('CO-08 are those of the namespaces where the caller may list pods', async () => {
  const stand = await startWithServices();
  expect((await stand.ask(COMPONENTS, 'joe')).text).toBe('[]');
  stand.admit('kubesphere-system');
  await stand.clock.until(
    async () => (await stand.ask(COMPONENTS, 'joe')).body,
    (body) => body.length === 1 && body[0].name === 'gatehouse',
  );
  expect((await stand.ask(`${COMPONENTS}/kube-dns`, 'joe')).status).toBe(404);
});
