import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';

export const POD_STATUS_WORDS = ['Waiting', 'Running', 'Error', 'Completed'] as const;

export type PodStatusWord = (typeof POD_STATUS_WORDS)[number];

/** The word that the `status` filter compares. KubeSphere 3.4 derives it from the reason that kubectl prints, too. */
export function podStatusWord(pod: KubernetesObject): PodStatusWord {
  const reason = podReason(pod);
  if (reason === 'Running' || reason === 'Completed') return reason;
  if (reason === 'Failed' || reason === 'Error' || reason.startsWith('OutOf')) return 'Error';
  if (reason === 'Succeeded' && hasCondition(pod, 'Ready', { reason: 'PodCompleted' })) return 'Completed';
  return 'Waiting';
}

type Members = Readonly<Record<string, unknown>>;

/**
 * What kubectl prints in its column STATUS: the rules of `printPod` in Kubernetes 1.36 (pkg/printers/internalversion), which the API
 * server applies when it makes a Table.
 */
export function podReason(pod: KubernetesObject): string {
  const status = asObject(pod['status']);
  const isInitialized = hasCondition(pod, 'Initialized', { status: 'True' });
  const initReason = reasonOfInit(pod);
  const before = initReason ?? basicReason(pod);
  const reason = initReason === undefined || isInitialized ? reasonOfContainers(pod, before) : before;
  if (typeof pod.metadata['deletionTimestamp'] !== 'string') return reason;
  if (status['reason'] === 'NodeLost') return 'Unknown';
  return status['phase'] === 'Succeeded' || status['phase'] === 'Failed' ? reason : 'Terminating';
}

/** The reason before any container is looked at. */
function basicReason(pod: KubernetesObject): string {
  if (hasCondition(pod, 'PodScheduled', { reason: 'SchedulingGated' })) return 'SchedulingGated';
  const { reason, phase } = asObject(pod['status']);
  return textOf(reason) || textOf(phase);
}

/** The reason of the first init container that holds the pod up. `undefined`: none does. */
function reasonOfInit(pod: KubernetesObject): string | undefined {
  const inSpec = asArray(asObject(pod['spec'])['initContainers']).map(asObject);
  for (const [at, status] of asArray(asObject(pod['status'])['initContainerStatuses']).map(asObject).entries()) {
    const { terminated, waiting } = stateOf(status);
    if (terminated && exitCodeOf(terminated) === 0) continue;
    const isSidecar = inSpec.find(({ name }) => name === status['name'])?.['restartPolicy'] === 'Always';
    if (isSidecar && status['started'] === true) continue;
    if (terminated) return `Init:${reasonOfEnd(terminated)}`;
    const reason = textOf(waiting?.['reason']);
    return reason === '' || reason === 'PodInitializing' ? `Init:${at}/${inSpec.length}` : `Init:${reason}`;
  }
  return undefined;
}

/** The reason by the first container that has one; `before` if none has. */
function reasonOfContainers(pod: KubernetesObject, before: string): string {
  let reason = before;
  let failed = '';
  let hasRunning = false;
  for (const status of asArray(asObject(pod['status'])['containerStatuses']).map(asObject).toReversed()) {
    const { waiting, terminated, running } = stateOf(status);
    const waitsFor = textOf(waiting?.['reason']);
    if (waitsFor !== '') reason = waitsFor;
    else if (terminated) {
      reason = reasonOfEnd(terminated);
      if (exitCodeOf(terminated) !== 0) failed = reason;
    } else if (running && status['ready'] === true) hasRunning = true;
  }
  if (reason !== 'Completed') return reason;
  if (hasRunning && hasCondition(pod, 'Ready', { status: 'True' })) return 'Running';
  return failed || (hasRunning ? 'NotReady' : reason);
}

/** Why a container ended. */
function reasonOfEnd(terminated: Members): string {
  const { reason, signal } = terminated;
  if (textOf(reason) !== '') return textOf(reason);
  return typeof signal === 'number' && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCodeOf(terminated)}`;
}

const exitCodeOf = ({ exitCode }: Members): unknown => exitCode ?? 0;

interface ContainerState {
  readonly waiting: Members | undefined;
  readonly terminated: Members | undefined;
  readonly running: Members | undefined;
}

function stateOf(status: Members): ContainerState {
  const { waiting, terminated, running } = asObject(status['state']);
  return { waiting: membersOf(waiting), terminated: membersOf(terminated), running: membersOf(running) };
}

const membersOf = (value: unknown): Members | undefined =>
  value === undefined || value === null ? undefined : asObject(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whether a condition of this type has these members. */
const hasCondition = (pod: KubernetesObject, type: string, members: Members): boolean =>
  asArray(asObject(pod['status'])['conditions'])
    .map(asObject)
    .some((one) => one['type'] === type && Object.entries(members).every(([name, value]) => one[name] === value));
