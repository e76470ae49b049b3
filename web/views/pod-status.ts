import { at, type KubernetesObject, listAt, numberAt, textAt } from '../api/objects.ts';

/**
 * What kubectl prints in its column STATUS (`printPod` in Kubernetes 1.36), which is also what the server sorts by
 * (docs/contract/kinds.md, KW-21).
 */
export function podReason(pod: KubernetesObject): string {
  const { metadata, status } = pod;
  const init = initReason(pod);
  const before = init ?? basicReason(pod);
  const reason =
    init === undefined || hasCondition(pod, 'Initialized', 'status', 'True') ? mainReason(pod, before) : before;
  if (metadata.deletionTimestamp === undefined) return reason;
  if (textAt(status, 'reason') === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(textAt(status, 'phase')) ? reason : 'Terminating';
}

function basicReason(pod: KubernetesObject): string {
  if (hasCondition(pod, 'PodScheduled', 'reason', 'SchedulingGated')) return 'SchedulingGated';
  return textAt(pod.status, 'reason') || textAt(pod.status, 'phase');
}

/** The reason of the init container that holds the pod up. */
function initReason(pod: KubernetesObject): string | undefined {
  const place = heldUpAt(pod);
  const status = listAt(pod.status, 'initContainerStatuses')[place];
  if (status === undefined) return undefined;
  const end = endOf(status);
  if (end !== undefined) return `Init:${end}`;
  const said = textAt(status, 'state', 'waiting', 'reason');
  return said === '' || said === 'PodInitializing'
    ? `Init:${place}/${listAt(pod.spec, 'initContainers').length}`
    : `Init:${said}`;
}

/** The place of the first init container that holds the pod up; -1: none does. */
const heldUpAt = ({ spec, status }: KubernetesObject): number =>
  listAt(status, 'initContainerStatuses').findIndex((one) => {
    const hasEndedWell = isThere(one, 'terminated') && numberAt(one, 'state', 'terminated', 'exitCode') === 0;
    return !hasEndedWell && !(isSidecar(spec, one) && at(one, 'started') === true);
  });

const isSidecar = (spec: unknown, status: unknown): boolean =>
  textAt(
    listAt(spec, 'initContainers').find((one) => at(one, 'name') === at(status, 'name')),
    'restartPolicy',
  ) === 'Always';

/** The reason of the first container that has one; `before` if none has. */
function mainReason(pod: KubernetesObject, before: string): string {
  let [reason, failed, hasRunning] = [before, '', false];
  for (const status of listAt(pod.status, 'containerStatuses').toReversed()) {
    const waitsFor = textAt(status, 'state', 'waiting', 'reason');
    const end = endOf(status);
    if (waitsFor !== '') reason = waitsFor;
    else if (end !== undefined) {
      reason = end;
      if (numberAt(status, 'state', 'terminated', 'exitCode') !== 0) failed = end;
    } else if (isThere(status, 'running') && at(status, 'ready') === true) hasRunning = true;
  }
  if (reason !== 'Completed') return reason;
  if (hasRunning && hasCondition(pod, 'Ready', 'status', 'True')) return 'Running';
  return failed || (hasRunning ? 'NotReady' : reason);
}

const isThere = (status: unknown, state: string): boolean => typeof (at(status, 'state', state) ?? '') === 'object';

/** Why a container ended; `undefined`: it has not. */
function endOf(status: unknown): string | undefined {
  if (!isThere(status, 'terminated')) return undefined;
  const [signal, code] = ['signal', 'exitCode'].map((name) => numberAt(status, 'state', 'terminated', name));
  return textAt(status, 'state', 'terminated', 'reason') || (signal ? `Signal:${signal}` : `ExitCode:${code}`);
}

const hasCondition = ({ status }: KubernetesObject, type: string, member: string, value: string): boolean =>
  listAt(status, 'conditions').some((one) => at(one, 'type') === type && at(one, member) === value);

/** What kubectl prints in its column RESTARTS, by which the server sorts, too. */
export function restartsOf(pod: KubernetesObject): number {
  const { spec, status } = pod;
  const initial = listAt(status, 'initContainerStatuses');
  const place = heldUpAt(pod);
  const seen = place < 0 ? initial : initial.slice(0, place + 1);
  if (place >= 0 && !hasCondition(pod, 'Initialized', 'status', 'True')) return restartsIn(seen);
  return restartsIn([...seen.filter((one) => isSidecar(spec, one)), ...listAt(status, 'containerStatuses')]);
}

const restartsIn = (statuses: readonly unknown[]): number =>
  statuses.reduce<number>((sum, one) => sum + numberAt(one, 'restartCount'), 0);

/** How many containers are ready, of how many. */
export const readyOf = ({ spec, status }: KubernetesObject): readonly [ready: number, all: number] => [
  listAt(status, 'containerStatuses').filter((one) => at(one, 'ready') === true).length,
  listAt(spec, 'containers').length,
];
