import { asList, asRecord, asText } from './json-members.ts';

/** What the following of logs needs to know of a container. */
export interface ContainerView {
  readonly name: string;
  /** How often it was started again. */
  readonly restarts: number;
  /** Whether some instance of it has begun, so that there is a log. */
  readonly hasStarted: boolean;
  readonly isRunning: boolean;
  /** Whether it never writes again, because it has ended and will not be started again. */
  readonly isOver: boolean;
  /** How its last instance ended, in words for people; empty if none has. */
  readonly lastEnd: string;
}

/** What the following of logs needs to know of a pod. */
export interface PodView {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: string;
  readonly isReady: boolean;
  /** Whether all its containers have ended for good. */
  readonly isFinished: boolean;
  /** The object that manages it. */
  readonly controller: { readonly kind: string; readonly uid: string } | undefined;
  /** Init containers first, then the others, then ephemeral ones. */
  readonly containers: readonly ContainerView[];
}

/** The lists of containers in a pod's spec, each with that of their statuses. */
const LISTS = [
  ['initContainers', 'initContainerStatuses'],
  ['containers', 'containerStatuses'],
  ['ephemeralContainers', 'ephemeralContainerStatuses'],
] as const;

/** Reads a pod as the cluster sends it. Members that are missing or of another type count as absent. */
export function toPodView(pod: unknown): PodView {
  const { metadata, spec, status } = asRecord(pod);
  const { name, uid, creationTimestamp, ownerReferences } = asRecord(metadata);
  const phase = asText(asRecord(status)['phase']);
  const isFinished = phase === 'Succeeded' || phase === 'Failed';
  const conditions = asList(asRecord(status)['conditions']).map(asRecord);
  const owner = asList(ownerReferences)
    .map(asRecord)
    .find(({ controller }) => controller === true);
  return {
    name: asText(name),
    uid: asText(uid),
    createdAt: asText(creationTimestamp),
    isReady: conditions.some(({ type, status: word }) => type === 'Ready' && word === 'True'),
    isFinished,
    controller: owner && { kind: asText(owner['kind']), uid: asText(owner['uid']) },
    containers: LISTS.flatMap(([list, statuses]) => {
      const known = new Map(asList(asRecord(status)[statuses]).map((one) => [asRecord(one)['name'], asRecord(one)]));
      return asList(asRecord(spec)[list]).map((one) =>
        toContainerView(asRecord(one), known.get(asRecord(one)['name']), {
          isInit: list === 'initContainers',
          isEphemeral: list === 'ephemeralContainers',
          phase,
          restartPolicy: asText(asRecord(spec)['restartPolicy']),
        }),
      );
    }),
  };
}

interface OfPod {
  readonly isInit: boolean;
  readonly isEphemeral: boolean;
  readonly phase: string;
  readonly restartPolicy: string;
}

function toContainerView(
  container: Readonly<Record<string, unknown>>,
  status: Readonly<Record<string, unknown>> | undefined,
  ofPod: OfPod,
): ContainerView {
  const state = asRecord(status?.['state']);
  const ended = state['terminated'] ?? asRecord(status?.['lastState'])['terminated'];
  // A pod that runs without the status of a container has one that is about to be written.
  const isRunning = status ? 'running' in state : ofPod.phase === 'Running';
  const restarts = typeof status?.['restartCount'] === 'number' ? status['restartCount'] : 0;
  return {
    name: asText(container['name']),
    restarts,
    hasStarted: isRunning || ended !== undefined || restarts > 0,
    isRunning,
    isOver: ofPod.phase === 'Succeeded' || ofPod.phase === 'Failed' || staysEnded(container, state, ofPod),
    lastEnd: ended === undefined ? '' : endWords(asRecord(ended)),
  };
}

/** Whether a container that has ended is not started again (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy). */
function staysEnded(
  container: Readonly<Record<string, unknown>>,
  { terminated }: Readonly<Record<string, unknown>>,
  { isInit, isEphemeral, restartPolicy }: OfPod,
): boolean {
  if (terminated === undefined) return false;
  if (isEphemeral) return true;
  const policy = asText(container['restartPolicy']) || restartPolicy;
  const isSidecar = isInit && container['restartPolicy'] === 'Always';
  if (policy === 'Never') return true;
  const hasSucceeded = asRecord(terminated)['exitCode'] === 0;
  return hasSucceeded && (policy === 'OnFailure' || (isInit && !isSidecar));
}

function endWords({ exitCode, reason }: Readonly<Record<string, unknown>>): string {
  const why = asText(reason);
  return `exit code ${typeof exitCode === 'number' ? exitCode : 'unknown'}${why === '' ? '' : ` (${why})`}`;
}
