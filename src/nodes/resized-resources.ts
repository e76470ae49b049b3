import { asArray, asObject, isObject } from './json.ts';

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

/**
 * What counts for the containers of a pod that may be resized in place
 * (https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/). Until the kubelet has done it,
 * the greatest of what the specification asks for, what is allocated and what is in use. A resize that the node can never
 * do takes nothing of it: what is allocated and in use counts, and not the specification.
 */
export function createResizedResources(status: Members): (container: Members) => CountedResources {
  const isInfeasible = isResizeInfeasible(status);
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
function isResizeInfeasible(status: Members): boolean {
  const pending = asArray(status['conditions']).find((entry) => asObject(entry)['type'] === 'PodResizePending');
  return asObject(pending)['reason'] === 'Infeasible';
}

function statusOf(status: Members, name: unknown): Members {
  const named = (entry: unknown): boolean => asObject(entry)['name'] === name;
  const found = asArray(status['initContainerStatuses']).findLast(named);
  return asObject(found ?? asArray(status['containerStatuses']).findLast(named));
}
