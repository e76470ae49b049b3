import { describe, expect, test } from 'vitest';
import { listOf, makeCache, makeNode, makePod } from './node-objects.ts';

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

/** What `PodRequests` and `PodLimits` of k8s.io/component-helpers 0.34 say; test/vectors compares random pods with them. */
const ROWS: readonly [string, Case, string][] = [
  ['a resize that was done', running(container('2', '3'), status(cpu('2', '3'), '2')), '2/3'],
  ['a container without a status', { spec: { containers: [container('2', '3')] }, status: {} }, '2/3'],
  ['a status without resources', running(container('2', '3'), status(undefined, '9')), '2/3'],
  ['a resize upwards that waits', running(container('3', '4'), status(cpu('1', '2'), '1'), pending('Deferred')), '3/4'],
  ['a resize downwards under way', running(container('1', '2'), status(cpu('3', '4'), '1'), IN_PROGRESS), '3/4'],
  ['a status that differs without word of a resize', running(container('1', '2'), status(cpu('3', '4'), '3')), '1/2'],
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
    '2/3',
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

  test('counts nothing of a status for a container that runs once', () => {
    const spec = { containers: [], initContainers: [container('2', '3')] };
    const initContainerStatuses = [status(cpu('60', '60'), '60')];
    expect(cpuOf({ spec, status: { initContainerStatuses, conditions: [IN_PROGRESS] } })).toBe('2/3');
  });

  test('takes the status of the init container where two containers have one name', () => {
    const spec = { containers: [container('1')] };
    const statuses = { initContainerStatuses: [status(cpu('2'))], containerStatuses: [status(cpu('3'))] };
    const conditions = [IN_PROGRESS];
    expect(cpuOf({ spec, status: { ...statuses, conditions } })).toBe('2/0');
  });

  test('takes the last of two statuses of one name', () => {
    const statuses = { containerStatuses: [status(cpu('3')), status(cpu('2'))], conditions: [IN_PROGRESS] };
    expect(cpuOf({ spec: { containers: [container('1')] }, status: statuses })).toBe('2/0');
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
