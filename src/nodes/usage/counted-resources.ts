import { asArray, asObject, isObject } from '../../runtime/text/json-value.ts';

type Members = Readonly<Record<string, unknown>>;
export type RequirementKind = 'requests' | 'limits';

/**
 * Three views of a pod's amounts: what its spec asks for, what its containers run with, and what the node has allocated.
 * They differ while the pod is resized in place (KEP-1287,
 * https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/). The view with the greatest sum counts.
 */
export type View = 'specified' | 'used' | 'allocated';

/** A node allocates requests but no limits. */
const VIEWS: Readonly<Record<RequirementKind, readonly View[]>> = {
  requests: ['specified', 'used', 'allocated'],
  limits: ['specified', 'used'],
};

/** The resource lists of one container. */
export type CountedResources = Readonly<Record<RequirementKind, Readonly<Record<View, Members>>>>;

/** The part of a pod's status that concerns its resources. */
export class PodStatus {
  readonly #status: Members;
  readonly #isInfeasible: boolean;

  constructor(status: unknown) {
    this.#status = asObject(status);
    this.#isInfeasible = isResizeInfeasible(asArray(this.#status['conditions']).map(asObject));
  }

  /** Leaves out the amounts in the spec if the node can never do the resize. */
  viewsOf(kind: RequirementKind): readonly View[] {
    return this.#isInfeasible ? VIEWS[kind].filter((view) => view !== 'specified') : VIEWS[kind];
  }

  /**
   * The amounts of one container. The spec counts if the status names no amounts: before the container has started, or
   * if the kubelet cannot resize.
   */
  resourcesOf(container: Members): CountedResources {
    const { requests, limits } = asObject(container['resources']);
    const { resources, allocatedResources } = this.#statusOf(container['name']);
    const used = asObject(resources);
    const allocated = isObject(allocatedResources) ? allocatedResources : undefined;
    const wanted = (list: unknown): Members => (this.#isInfeasible ? {} : asObject(list));
    const usedLimits = isObject(used['limits']) ? used['limits'] : wanted(limits);
    return {
      requests: {
        specified: asObject(requests),
        used: isObject(used['requests']) ? used['requests'] : (allocated ?? wanted(requests)),
        allocated: allocated ?? wanted(requests),
      },
      limits: { specified: asObject(limits), used: usedLimits, allocated: usedLimits },
    };
  }

  /** What the kubelet reports for the pod as a whole (KEP-5419). This counts instead of the containers' amounts. */
  ofPod(kind: RequirementKind): Partial<Readonly<Record<View, Members>>> {
    const { used, allocated } = this.#reported(kind);
    if (!used || (kind === 'requests' && !allocated)) return {};
    return allocated ? { used, allocated } : { used };
  }

  /**
   * The views of the resources that a pod has of its own (KEP-2837). The greatest amount in them counts instead of the
   * containers' amounts.
   */
  listsInstead(kind: RequirementKind, specified: Members): readonly Members[] {
    if (!isObject(this.#status['resources'])) return [specified];
    const { used, allocated } = this.#reported(kind);
    return [this.#isInfeasible ? undefined : specified, used, allocated].filter((list) => list !== undefined);
  }

  #reported(kind: RequirementKind): { readonly used?: Members | undefined; readonly allocated?: Members | undefined } {
    const { resources, allocatedResources } = this.#status;
    const used = asObject(resources)[kind];
    return {
      used: isObject(used) ? used : undefined,
      allocated: kind === 'requests' && isObject(allocatedResources) ? allocatedResources : undefined,
    };
  }

  #statusOf(name: unknown): Members {
    const named = (entry: unknown): boolean => asObject(entry)['name'] === name;
    const found = asArray(this.#status['containerStatuses']).find(named);
    return asObject(found ?? asArray(this.#status['initContainerStatuses']).find(named));
  }
}

/** A pod has at most one `PodResizePending` condition. If it had more, the first would count, as in Kubernetes. */
const isResizeInfeasible = (conditions: readonly Members[]): boolean =>
  conditions.find(({ type }) => type === 'PodResizePending')?.['reason'] === 'Infeasible';

/** `IsSupportedPodLevelResource`: a pod has resources of its own when its list names one of these. */
export const namesOwnResource = (list: Members): boolean =>
  Object.keys(list).some((name) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-'));
