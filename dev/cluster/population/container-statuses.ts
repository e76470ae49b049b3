import { isRecord } from '../kube-object.ts';
import type { Workload } from './workloads.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface ContainerState {
  readonly state: object;
  readonly lastState?: object;
  readonly ready: boolean;
  readonly restartCount?: number;
}

/** The state of containers that came into it at this time (RFC 3339). */
type StateSince = (at: string) => ContainerState;

const STATES: Readonly<Record<PodPhase, StateSince>> = {
  Pending: () => ({ state: { waiting: { reason: 'ContainerCreating' } }, ready: false }),
  Running: (startedAt) => ({ state: { running: { startedAt } }, ready: true }),
  Succeeded: (at) => ({
    state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at } },
    ready: false,
  }),
  Failed: (at) => ({
    state: { terminated: { exitCode: 1, reason: 'Error', startedAt: at, finishedAt: at } },
    ready: false,
  }),
};

/** The state of a container that has ended with an error and is started again. */
export const crashed: StateSince = (at) => ({
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' } },
  lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: at, finishedAt: at } },
  ready: false,
});

/** `status.containerStatuses` of a pod whose containers came into this phase or state at this time (RFC 3339). */
export const containerStatuses = (
  { containers }: Pick<Workload, 'containers'>,
  state: PodPhase | StateSince,
  at: string,
): readonly object[] => {
  const { restartCount = 0, ...rest } = (typeof state === 'string' ? STATES[state] : state)(at);
  return containers.filter(isRecord).map(({ name, image }) => ({
    ...{ name, image, imageID: '', restartCount, started: rest.ready },
    ...rest,
  }));
};
