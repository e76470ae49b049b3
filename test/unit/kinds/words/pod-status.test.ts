import { describe, expect, test } from 'vitest';
import { podReason, podRestarts, podStatusWord } from '../../../../src/kinds/words/pod-status.ts';
import { object } from './worded-kind.ts';

const terminated = (members: object) => ({ state: { terminated: { exitCode: 0, ...members } } });
const waiting = (reason: string) => ({ state: { waiting: { reason } } });
const running = { ready: true, state: { running: {} } };
const ready = (status: string, reason?: string) => ({ type: 'Ready', status, ...(reason && { reason }) });
const init = (...statuses: object[]) => ({
  phase: 'Pending',
  initContainerStatuses: statuses.map((status, at) => ({ name: `i${at}`, ...status })),
});

const IN_SPEC = { initContainers: [{ name: 'i0' }, { name: 'i1' }, { name: 'i2', restartPolicy: 'Always' }] };
const DELETED = { deletionTimestamp: '2026-01-02T00:00:00Z' };

interface Case {
  readonly status: object;
  readonly metadata?: object;
}

describe('the reason that kubectl prints, and the status word', () => {
  const cases: readonly (readonly [reason: string, word: string, pod: Case])[] = [
    ['Pending', 'Waiting', { status: { phase: 'Pending' } }],
    ['', 'Waiting', { status: {} }],
    ['Running', 'Running', { status: { phase: 'Running', containerStatuses: [running] } }],
    ['Failed', 'Error', { status: { phase: 'Failed' } }],
    ['Evicted', 'Waiting', { status: { phase: 'Failed', reason: 'Evicted' } }],
    ['OutOfcpu', 'Error', { status: { phase: 'Failed', reason: 'OutOfcpu' } }],
    ['Succeeded', 'Waiting', { status: { phase: 'Succeeded' } }],
    ['Succeeded', 'Completed', { status: { phase: 'Succeeded', conditions: [ready('False', 'PodCompleted')] } }],
    ['Succeeded', 'Waiting', { status: { phase: 'Succeeded', conditions: [ready('False', 'PodFailed')] } }],
    [
      'SchedulingGated',
      'Waiting',
      {
        status: {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
        },
      },
    ],
    ['CrashLoopBackOff', 'Waiting', { status: { phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff')] } }],
    ['A', 'Waiting', { status: { phase: 'Running', containerStatuses: [waiting('A'), waiting('B'), running] } }],
    [
      'Completed',
      'Completed',
      { status: { phase: 'Succeeded', containerStatuses: [terminated({ reason: 'Completed' })] } },
    ],
    [
      'Error',
      'Error',
      { status: { phase: 'Failed', containerStatuses: [terminated({ reason: 'Error', exitCode: 1 })] } },
    ],
    ['OOMKilled', 'Waiting', { status: { containerStatuses: [terminated({ reason: 'OOMKilled', exitCode: 137 })] } }],
    ['Signal:9', 'Waiting', { status: { containerStatuses: [terminated({ signal: 9, exitCode: 137 })] } }],
    ['ExitCode:2', 'Waiting', { status: { containerStatuses: [terminated({ exitCode: 2 })] } }],
    [
      'Running',
      'Running',
      {
        status: { containerStatuses: [terminated({ reason: 'Completed' }), running], conditions: [ready('True')] },
      },
    ],
    [
      'NotReady',
      'Waiting',
      { status: { containerStatuses: [terminated({ reason: 'Completed' }), running], conditions: [ready('False')] } },
    ],
    [
      'Error',
      'Error',
      {
        status: {
          containerStatuses: [terminated({ reason: 'Completed' }), terminated({ reason: 'Error', exitCode: 1 })],
        },
      },
    ],
    ['Init:0/3', 'Waiting', { status: init({ state: { running: {} } }) }],
    ['Init:1/3', 'Waiting', { status: init(terminated({}), waiting('PodInitializing')) }],
    ['Init:ImagePullBackOff', 'Waiting', { status: init(terminated({}), waiting('ImagePullBackOff')) }],
    ['Init:Error', 'Waiting', { status: init(terminated({ reason: 'Error', exitCode: 1 })) }],
    ['Init:Signal:9', 'Waiting', { status: init(terminated({ signal: 9, exitCode: 137 })) }],
    ['Init:ExitCode:3', 'Waiting', { status: init(terminated({ exitCode: 3 })) }],
    [
      'Running',
      'Running',
      {
        status: {
          ...init(terminated({}), terminated({}), { started: true, ready: true, state: { running: {} } }),
          ...{ phase: 'Running', containerStatuses: [running] },
        },
      },
    ],
    [
      'Init:2/3',
      'Waiting',
      { status: init(terminated({}), terminated({}), { started: false, state: { running: {} } }) },
    ],
    [
      'CrashLoopBackOff',
      'Waiting',
      {
        status: {
          ...init(terminated({ reason: 'Error', exitCode: 1 })),
          ...{
            containerStatuses: [waiting('CrashLoopBackOff')],
            conditions: [{ type: 'Initialized', status: 'True' }],
          },
        },
      },
    ],
    ['Terminating', 'Waiting', { status: { phase: 'Running', containerStatuses: [running] }, metadata: DELETED }],
    ['Unknown', 'Waiting', { status: { phase: 'Running', reason: 'NodeLost' }, metadata: DELETED }],
    [
      'Completed',
      'Completed',
      {
        status: { phase: 'Succeeded', containerStatuses: [terminated({ reason: 'Completed' })] },
        metadata: DELETED,
      },
    ],
  ];

  test.each(cases)('are "%s" and %s for %j', (reason, word, { status, metadata = {} }) => {
    const pod = object('a/x', { spec: IN_SPEC, status }, { ...metadata });
    expect([podReason(pod), podStatusWord(pod)]).toEqual([reason, word]);
  });
});

describe('the restarts that kubectl prints', () => {
  const restarted = (restartCount: number, members: object = running) => ({ ...members, restartCount });
  const initialized = { conditions: [{ type: 'Initialized', status: 'True' }] };
  const sidecar = restarted(8, { started: true, ready: true, state: { running: {} } });

  test.each([
    [0, 'a pod without containers', {}],
    [5, 'those of all containers', { containerStatuses: [restarted(2), restarted(3), running] }],
    [0, 'none where the number is none', { containerStatuses: [{ ...running, restartCount: 'many' }] }],
    [
      6,
      'those of init containers up to the one that holds the pod up',
      init(restarted(4, terminated({})), restarted(2)),
    ],
    [4, 'without those behind it', init(restarted(4, waiting('CrashLoopBackOff')), restarted(2, terminated({})))],
    [
      11,
      'sidecars and containers, when the pod is initialized',
      { ...init(restarted(4, terminated({})), terminated({}), sidecar), containerStatuses: [restarted(3)] },
    ],
    [
      3,
      'only containers, when an init container of an initialized pod runs again',
      { ...init(restarted(4, running)), ...initialized, containerStatuses: [restarted(3)] },
    ],
  ])('are %i: %s', (restarts, _what, status) => {
    expect(podRestarts(object('a/x', { spec: IN_SPEC, status }))).toBe(restarts);
  });
});
