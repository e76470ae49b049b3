import { isRecord, type KubeObject } from '../kube-object.ts';

interface ContainerStatus {
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: Readonly<
    Record<'waiting' | 'running' | 'terminated', Readonly<Record<string, unknown>> | undefined>
  >;
}

const statusesOf = ({ status }: KubeObject): readonly ContainerStatus[] =>
  (status?.['containerStatuses'] ?? []) as readonly ContainerStatus[];

/** `1/2`: ready containers of all. */
export function podReady(pod: KubeObject): string {
  const containers = (pod.spec?.['containers'] ?? []) as readonly unknown[];
  const ready = statusesOf(pod).filter((one) => one.ready && one.state?.running);
  return `${ready.length}/${containers.length}`;
}

/** A number of restarts, as text like every other cell. Without the time of the last one, which statuses here do not have. */
export const podRestarts = (pod: KubeObject): string =>
  String(statusesOf(pod).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0));

/** The word in the column STATUS: the reason of a container, else that of the pod, else its phase. Init containers are not looked at. */
export function podStatus(pod: KubeObject): string {
  const { phase, reason } = pod.status ?? {};
  const conditions = (pod.status?.['conditions'] ?? []) as readonly { type: string; status: string; reason?: string }[];
  const isGated = conditions.some((one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated');
  let word = String(reason || (isGated ? 'SchedulingGated' : (phase ?? '')));
  let isRunning = false;
  for (const { state, ready } of statusesOf(pod).toReversed()) {
    const { waiting, terminated } = state ?? {};
    if (waiting?.['reason']) word = String(waiting['reason']);
    else if (isRecord(terminated)) word = terminatedWord(terminated);
    else if (ready && state?.running) isRunning = true;
  }
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (word === 'Completed' && isRunning) word = isReady ? 'Running' : 'NotReady';
  if (pod.metadata['deletionTimestamp'] === undefined) return word;
  if (reason === 'NodeLost') return 'Unknown';
  return phase === 'Succeeded' || phase === 'Failed' ? word : 'Terminating';
}

function terminatedWord({ reason, signal, exitCode }: Readonly<Record<string, unknown>>): string {
  if (reason) return String(reason);
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}
