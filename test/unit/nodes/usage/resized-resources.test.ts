import { describe, expect, test } from 'vitest';
import { listOf, makeCache, makeNode, makePod } from '../../resources/node-objects.ts';

type Members = Readonly<Record<string, unknown>>;

const cpu = (requests: string, limits?: string): Members => ({
  requests: { cpu: requests },
  ...(limits ? { limits: { cpu: limits } } : {}),
});

const container = (requests: string, limits?: string): Members => ({ name: 'app', resources: cpu(requests, limits) });

/** What the kubelet says of the container: in use, and allocated. */
const status = (used: Members | undefined, allocated?: string): Members => ({
  name: 'app',
  ...(used ? { resources: used } : {}),
  ...(allocated ? { allocatedResources: { cpu: allocated } } : {}),
});

const pending = (reason: string): Members => ({ type: 'PodResizePending', status: 'True', reason });
const INFEASIBLE = pending('Infeasible');
const IN_PROGRESS: Members = { type: 'PodResizeInProgress', status: 'True' };

interface Case {
  readonly spec: Members;
  readonly status: Members;
}

/** The cpu of node-a, which has four, as `requests/limits`. */
function cpuOf({ spec, status }: Case): string {
  const { lister, putNode, putPod } = makeCache();
  putNode(makeNode('node-a', {}, { status: { allocatable: { cpu: '4' } } }));
  putPod({ ...makePod(spec), status: { phase: 'Running', ...status } });
  const annotations = listOf(lister).items[0]?.metadata.annotations ?? {};
  return `${annotations['node.gatehouse.io/cpu-requests']}/${annotations['node.gatehouse.io/cpu-limits']}`;
}

const running = (wanted: Members, actual: Members, ...conditions: readonly Members[]): Case => ({
  spec: { containers: [wanted] },
  status: { containerStatuses: [actual], conditions },
});

const asSidecar = (pod: Case): Case => ({
  spec: {
    containers: [],
    initContainers: (pod.spec['containers'] as Members[]).map((one) => ({ ...one, restartPolicy: 'Always' })),
  },
  status: { initContainerStatuses: pod.status['containerStatuses'], conditions: pod.status['conditions'] },
});

/** Two containers, of which the kubelet reports these amounts in use and allocated. */
const pair = (wanted: readonly [string, string], actual: readonly [string, string]): Case => ({
  spec: { containers: wanted.map((amount, at) => ({ ...container(amount, amount), name: `app${at}` })) },
  status: {
    containerStatuses: actual.map((amount, at) => ({ ...status(cpu(amount, amount), amount), name: `app${at}` })),
  },
});

/** A pod of one container, with resources of its own, of which the kubelet reports these. */
const own = (wanted: Members, actual: Members, ...conditions: readonly Members[]): Case => ({
  spec: { containers: [container('1', '1')], resources: wanted },
  status: { ...actual, conditions },
});

/** What `PodRequests` and `PodLimits` of k8s.io/component-helpers 0.37 say; test/vectors compares random pods with them. */
const ROWS: readonly [string, Case, string][] = [
  ['a resize that was done', running(container('2', '3'), status(cpu('2', '3'), '2')), '2/3'],
  ['a container without a status', { spec: { containers: [container('2', '3')] }, status: {} }, '2/3'],
  ['a status with what is allocated alone', running(container('2', '3'), status(undefined, '9')), '9/3'],
  ['a resize upwards that waits', running(container('3', '4'), status(cpu('1', '2'), '1'), pending('Deferred')), '3/4'],
  ['a resize downwards under way', running(container('1', '2'), status(cpu('3', '4'), '1'), IN_PROGRESS), '3/4'],
  ['a shrunk container before its condition', running(container('1', '2'), status(cpu('3', '4'), '3')), '3/4'],
  [
    'a resize that is allocated, not in use',
    running(container('1', '2'), status(cpu('1', '2'), '2500m'), IN_PROGRESS),
    '2500m/2',
  ],
  ['an infeasible resize', running(container('60', '60'), status(cpu('1', '2'), '1'), INFEASIBLE), '1/2'],
  [
    'an infeasible resize of what is allocated, not in use',
    running(container('60', '60'), status(cpu('1'), '2'), INFEASIBLE),
    '2/0',
  ],
  [
    'an infeasible resize of a container without a status',
    { spec: { containers: [container('2', '3')] }, status: { conditions: [INFEASIBLE] } },
    '0/0',
  ],
  [
    'another condition that is infeasible',
    running(container('3'), status(cpu('1')), IN_PROGRESS, { type: 'Ready', reason: 'Infeasible' }),
    '3/0',
  ],
  [
    'two conditions of the resize, of which the first counts',
    running(container('3'), status(cpu('1')), { type: 'Ready' }, pending('Deferred'), INFEASIBLE),
    '3/0',
  ],
  [
    'the status of another container',
    running(container('3'), { ...status(cpu('9')), name: 'other' }, IN_PROGRESS),
    '3/0',
  ],
];

describe('a pod that is resized in place', () => {
  test.each(ROWS)('%s', (_what, pod, expected) => {
    expect(cpuOf(pod)).toBe(expected);
  });

  test.each(ROWS)('%s, of a sidecar', (_what, pod, expected) => {
    expect(cpuOf(asSidecar(pod))).toBe(expected);
  });

  test.each<[string, Case, string]>([
    ['two containers that change places count once', pair(['3', '1'], ['1', '3']), '4/4'],
    ['one that grows beside one that shrinks', pair(['4', '1'], ['1', '3']), '5/5'],
    ['one that grows and one that stays', pair(['3', '1'], ['1', '1']), '4/4'],
  ])('%s', (_what, pod, expected) => {
    expect(cpuOf(pod)).toBe(expected);
  });

  test.each<[string, Case, string]>([
    ['settled', own(cpu('2', '3'), { resources: cpu('2', '3'), allocatedResources: { cpu: '2' } }), '2/3'],
    ['grown', own(cpu('4', '5'), { resources: cpu('2', '3'), allocatedResources: { cpu: '2' } }), '4/5'],
    ['shrunk', own(cpu('1', '2'), { resources: cpu('2', '3'), allocatedResources: { cpu: '1' } }), '2/3'],
    ['shrunk, allocated', own(cpu('1', '2'), { resources: cpu('1', '2'), allocatedResources: { cpu: '3' } }), '3/2'],
    [
      'grown beyond the node',
      own(cpu('60', '60'), { resources: cpu('2', '3'), allocatedResources: { cpu: '2' } }, INFEASIBLE),
      '2/3',
    ],
    ['that the kubelet does not report', own(cpu('4', '5'), {}), '4/5'],
    [
      'of which the kubelet reports a resource that the specification does not name',
      own({ requests: { memory: '1Gi' } }, { resources: cpu('2', '3') }),
      '2/3',
    ],
    ['that are none which count', own({ requests: { 'ephemeral-storage': '1Gi' } }, {}), '1/1'],
    ['that are huge pages alone', own({ requests: { 'hugepages-2Mi': '2Mi' } }, {}), '1/1'],
  ])('whose own resources are %s', (_what, pod, expected) => {
    expect(cpuOf(pod)).toBe(expected);
  });

  test('counts what the kubelet reports of the pod where the pod has no resources of its own', () => {
    const reported = { resources: cpu('3', '4'), allocatedResources: { cpu: '2' } };
    expect(cpuOf({ spec: { containers: [container('1', '1')] }, status: reported })).toBe('3/4');
    expect(cpuOf({ spec: { containers: [container('1', '1')] }, status: { resources: cpu('3', '4') } })).toBe('1/4');
  });

  test('counts the status of a container that runs once, too', () => {
    const spec = { containers: [], initContainers: [container('2', '3')] };
    const initContainerStatuses = [status(cpu('60', '60'), '60')];
    expect(cpuOf({ spec, status: { initContainerStatuses } })).toBe('60/60');
  });

  test('takes the status of the container, not of the init container, where two have one name', () => {
    const spec = { containers: [container('1')] };
    const statuses = { initContainerStatuses: [status(cpu('2'))], containerStatuses: [status(cpu('3'))] };
    expect(cpuOf({ spec, status: statuses })).toBe('3/0');
  });

  test('takes the first of two statuses of one name', () => {
    const statuses = { containerStatuses: [status(cpu('3')), status(cpu('2'))] };
    expect(cpuOf({ spec: { containers: [container('1')] }, status: statuses })).toBe('3/0');
  });

  test('follows the resize from the request to its end', () => {
    const { lister, pods, putNode, putPod } = makeCache();
    putNode(makeNode('node-a', {}, { status: { allocatable: { cpu: '4' } } }));
    const pod = makePod({ containers: [container('1')] });
    const requests = (): unknown => listOf(lister).items[0]?.metadata.annotations['node.gatehouse.io/cpu-requests'];
    const step = (wanted: string, used: string): unknown => {
      putPod({
        ...pod,
        ...running(container(wanted), status(cpu(used)), ...(wanted === used ? [] : [IN_PROGRESS])),
        spec: { nodeName: 'node-a', ...running(container(wanted), {}).spec },
      });
      return requests();
    };
    expect([step('1', '1'), step('3', '1'), step('3', '3'), step('2', '3'), step('2', '2')]).toEqual([...'13332']);
    expect(pods.size).toBe(1);
  });

  test.each([
    { containerStatuses: 'none', conditions: 'none' },
    { containerStatuses: [null, 1, 'x'], conditions: [null, 1] },
    { containerStatuses: [{ name: 'app', resources: [] }], conditions: [IN_PROGRESS] },
    {
      containerStatuses: [{ name: 'app', resources: { requests: 'much', limits: null }, allocatedResources: 7 }],
      conditions: [IN_PROGRESS],
    },
    { containerStatuses: [{ name: 'app', resources: { requests: { cpu: 'much' } } }], conditions: [IN_PROGRESS] },
  ])('takes the specification where the status is odd: %j', (odd) => {
    expect(cpuOf({ spec: { containers: [container('2', '3')] }, status: odd })).toBe('2/3');
  });
});
