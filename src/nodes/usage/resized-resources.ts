import { asArray, asObject, isObject } from '../../kubernetes/json.ts';

type Members = Readonly<Record<string, unknown>>;

/** Resource lists of one container: of each resource the greatest amount counts. */
export interface CountedResources {
  readonly requests: readonly Members[];
  readonly limits: readonly Members[];
}

/** What the container's specification asks for. */
export function specifiedResources(container: Members): CountedResources {
  const { requests, limits } = asObject(container['resources']);
  return { requests: [asObject(requests)], limits: [asObject(limits)] };
}

/** What the kubelet says of a pod that it resizes, or is asked to (Kubernetes 1.33, KEP-1287). */
const RESIZE_CONDITIONS: ReadonlySet<unknown> = new Set(['PodResizePending', 'PodResizeInProgress']);

/**
 * What counts for the containers of a pod that may be resized in place
 * (https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/). Until the kubelet has done it,
 * the greatest of what the specification asks for, what is allocated and what is in use. A resize that the node can never
 * do takes nothing of it: what is allocated and in use counts, and not the specification. A pod without word of a resize is what it
 * asks for, whatever else its status holds: so KubeSphere 3.4 counts it, and so does Kubernetes, as the two are equal then.
 */
export function createResizedResources(status: Members): (container: Members) => CountedResources {
  const conditions = asArray(status['conditions']).map(asObject);
  if (!conditions.some(({ type }) => RESIZE_CONDITIONS.has(type))) return specifiedResources;
  const isInfeasible = isResizeInfeasible(conditions);
  return (container) => {
    const specified = specifiedResources(container);
    const actual = statusOf(status, container['name']);
    const used = actual['resources'];
    if (!isObject(used)) return specified; // a kubelet that does not resize, or a container that has not started
    const requests = [asObject(used['requests']), asObject(actual['allocatedResources'])];
    const limits = [asObject(used['limits'])];
    if (isInfeasible) return { requests, limits };
    return { requests: [...specified.requests, ...requests], limits: [...specified.limits, ...limits] };
  };
}

/** The condition stands once; were there more, the first would count, as in Kubernetes. */
const isResizeInfeasible = (conditions: readonly Members[]): boolean =>
  conditions.find(({ type }) => type === 'PodResizePending')?.['reason'] === 'Infeasible';

function statusOf(status: Members, name: unknown): Members {
  const named = (entry: unknown): boolean => asObject(entry)['name'] === name;
  const found = asArray(status['initContainerStatuses']).findLast(named);
  return asObject(found ?? asArray(status['containerStatuses']).findLast(named));
}
