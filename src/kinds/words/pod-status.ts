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
  const { statuses, inSpec, heldUpAt } = initOf(pod);
  const held = statuses[heldUpAt];
  if (!held) return undefined;
  const { terminated, waiting } = stateOf(held);
  if (terminated) return `Init:${reasonOfEnd(terminated)}`;
  const reason = textOf(waiting?.['reason']);
  return reason === '' || reason === 'PodInitializing' ? `Init:${heldUpAt}/${inSpec.length}` : `Init:${reason}`;
}

interface InitContainers {
  readonly inSpec: readonly Members[];
  readonly statuses: readonly Members[];
  /** The place of the first container that holds the pod up; -1: none does. */
  readonly heldUpAt: number;
}

function initOf(pod: KubernetesObject): InitContainers {
  const inSpec = asArray(asObject(pod['spec'])['initContainers']).map(asObject);
  const statuses = asArray(asObject(pod['status'])['initContainerStatuses']).map(asObject);
  const heldUpAt = statuses.findIndex((status) => {
    const { terminated } = stateOf(status);
    if (terminated && exitCodeOf(terminated) === 0) return false;
    return !(isSidecar(status, inSpec) && status['started'] === true);
  });
  return { inSpec, statuses, heldUpAt };
}

const isSidecar = (status: Members, inSpec: readonly Members[]): boolean =>
  inSpec.find(({ name }) => name === status['name'])?.['restartPolicy'] === 'Always';

/**
 * What kubectl prints in its column RESTARTS, by the same rules: the restarts of the init containers until one holds the pod up; of the
 * sidecars among them and of all other containers, when the pod is initialized.
 */
export function podRestarts(pod: KubernetesObject): number {
  const { inSpec, statuses, heldUpAt } = initOf(pod);
  const seen = heldUpAt < 0 ? statuses : statuses.slice(0, heldUpAt + 1);
  if (heldUpAt >= 0 && !hasCondition(pod, 'Initialized', { status: 'True' })) return restartsIn(seen);
  const main = asArray(asObject(pod['status'])['containerStatuses']).map(asObject);
  return restartsIn(seen.filter((status) => isSidecar(status, inSpec))) + restartsIn(main);
}

const restartsIn = (statuses: readonly Members[]): number =>
  statuses.reduce((sum, { restartCount }) => sum + (typeof restartCount === 'number' ? restartCount : 0), 0);

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
