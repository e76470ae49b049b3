import { describe, expect, test } from 'vitest';
import { toPodView } from '../../../../src/gateway/workload-logs/pod-view.ts';

const ENDED = (exitCode: number) => ({ terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' } });

const container = (
  spec: object,
  status: object | undefined,
  pod: { policy?: string; phase?: string; list?: string } = {},
) => {
  const { policy = 'Always', phase = 'Running', list = 'containers' } = pod;
  const statuses =
    { containers: 'containerStatuses', initContainers: 'initContainerStatuses' }[list] ?? 'ephemeralContainerStatuses';
  return toPodView({
    spec: { restartPolicy: policy, [list]: [{ name: 'main', ...spec }] },
    status: { phase, [statuses]: status ? [{ name: 'main', restartCount: 0, ...status }] : [] },
  }).containers[0];
};

describe('a container', () => {
  test('that is being created has no log yet', () => {
    const state = { waiting: { reason: 'ContainerCreating' } };
    expect(container({}, { state })).toMatchObject({ hasStarted: false, isRunning: false, isOver: false });
    expect(container({}, undefined, { phase: 'Pending' })).toMatchObject({ hasStarted: false });
  });

  test('that waits to be started again has one, of its last instance', () => {
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    expect(container({}, { state, lastState: ENDED(137), restartCount: 3 })).toEqual({
      ...{ name: 'main', restarts: 3, hasStarted: true, isRunning: false, isOver: false },
      lastEnd: 'exit code 137 (Error)',
    });
  });

  test.each([
    ['Always', 0, false],
    ['OnFailure', 0, true],
    ['OnFailure', 1, false],
    ['Never', 1, true],
  ])('of a pod with the policy %s that has ended with %d: is over is %s', (policy, exitCode, isOver) => {
    expect(container({}, { state: ENDED(exitCode) }, { policy })).toMatchObject({ hasStarted: true, isOver });
  });

  test('for the beginning of a pod is over when it has succeeded, unless it is a sidecar', () => {
    const list = 'initContainers';
    expect(container({}, { state: ENDED(0) }, { list })).toMatchObject({ isOver: true });
    expect(container({}, { state: ENDED(1) }, { list })).toMatchObject({ isOver: false });
    expect(container({ restartPolicy: 'Always' }, { state: ENDED(0) }, { list })).toMatchObject({ isOver: false });
  });

  test('for debugging is never started again', () => {
    expect(container({}, { state: ENDED(1) }, { list: 'ephemeralContainers' })).toMatchObject({ isOver: true });
  });

  test('of a pod that has finished is over', () => {
    expect(container({}, { state: ENDED(0) }, { phase: 'Succeeded' })).toMatchObject({ isOver: true });
  });
});

test('a pod is read from whatever the cluster sends', () => {
  const nothing = {
    name: '',
    uid: '',
    createdAt: '',
    isReady: false,
    isFinished: false,
    controller: undefined,
    containers: [],
  };
  for (const odd of [undefined, null, 7, [], { metadata: [], spec: 'x', status: { conditions: {} } }])
    expect(toPodView(odd)).toEqual(nothing);
});
