import { isRecord } from '../kube-object.ts';
import type { Workload } from './workloads.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface ContainerState {
  readonly state: object;
  readonly ready: boolean;
  readonly restartCount?: number;
}

const STATES: Readonly<Record<PodPhase, ContainerState>> = {
  Pending: { state: { waiting: { reason: 'ContainerCreating' } }, ready: false },
  Running: { state: { running: {} }, ready: true },
  Succeeded: { state: { terminated: { exitCode: 0, reason: 'Completed' } }, ready: false },
  Failed: { state: { terminated: { exitCode: 1, reason: 'Error' } }, ready: false },
};

/** The state of a container that has ended with an error and is started again. */
export const CRASHED: ContainerState = {
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' } },
  ready: false,
};

/** `status.containerStatuses` of a pod in this phase, or with all containers in this state. */
export const containerStatuses = (
  { containers }: Pick<Workload, 'containers'>,
  state: PodPhase | ContainerState,
): readonly object[] => {
  const { restartCount = 0, ...rest } = typeof state === 'string' ? STATES[state] : state;
  return containers.filter(isRecord).map(({ name, image }) => ({
    ...{ name, image, imageID: '', restartCount, started: rest.ready },
    ...rest,
  }));
};
