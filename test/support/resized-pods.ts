import fc from 'fast-check';

type Members = Readonly<Record<string, unknown>>;

const CPU = ['0', '100m', '250m', '1', '1500m', '2', '60'];
const MEMORY = ['0', '64Mi', '128Mi', '500M', '1Gi', '1073741824', '2Gi'];
/** The names of containers and of statuses. There are few, so that a status often has the name of a container. */
const NAMES = ['a', 'b', 'c', 'd'];

const resourceList = fc.record(
  {
    cpu: fc.constantFrom(...CPU),
    memory: fc.constantFrom(...MEMORY),
    'hugepages-2Mi': fc.constant('2Mi'),
    'ephemeral-storage': fc.constant('1Gi'),
  },
  { requiredKeys: [] },
);
/** A list or null. Go distinguishes an absent list, or null, from an empty one. */
const listOrNull = fc.oneof({ weight: 8, arbitrary: resourceList }, { weight: 1, arbitrary: fc.constant(null) });
const resources = fc.record({ requests: listOrNull, limits: listOrNull }, { requiredKeys: [] });
const name = fc.constantFrom(...NAMES);

const container = fc.record({ name, resources }, { requiredKeys: ['name'] });
const initContainer = fc.record(
  { name, resources, restartPolicy: fc.constantFrom('Always') },
  { requiredKeys: ['name'] },
);
const status = fc.record({ name, resources, allocatedResources: listOrNull }, { requiredKeys: ['name'] });
const condition = fc.record({
  type: fc.constantFrom('Ready', 'PodResizePending', 'PodResizeInProgress'),
  reason: fc.constantFrom('Infeasible', 'Deferred', 'Error'),
});

const several = { maxLength: NAMES.length, size: 'max' } as const;

export interface ResizedPod {
  readonly spec: Members;
  readonly status: Members;
}

/** Pods with all kinds of containers and of statuses about their resources, which need not belong together. */
const anyPod: fc.Arbitrary<ResizedPod> = fc.record({
  spec: fc.record(
    {
      containers: fc.array(container, several),
      initContainers: fc.array(initContainer, several),
      overhead: resourceList,
      resources,
    },
    { requiredKeys: ['containers'] },
  ),
  status: fc.record(
    {
      containerStatuses: fc.array(status, several),
      initContainerStatuses: fc.array(status, several),
      conditions: fc.array(condition, { maxLength: 3, size: 'max' }),
      resources,
      allocatedResources: listOrNull,
    },
    { requiredKeys: [] },
  ),
});

/** A pod with two containers that swap their resources. */
const swappingPod: fc.Arbitrary<ResizedPod> = fc
  .record({ one: resources, other: resources, conditions: fc.array(condition, { maxLength: 1, size: 'max' }) })
  .map(({ one, other, conditions }) => ({
    spec: { containers: [containerOf('a', one), containerOf('b', other)] },
    status: { containerStatuses: [statusOf('a', other), statusOf('b', one)], conditions },
  }));

const containerOf = (of: string, list: Members): Members => ({ name: of, resources: list });
const statusOf = (of: string, list: Members): Members => ({
  name: of,
  resources: list,
  allocatedResources: list['requests'] ?? null,
});

/** A pod whose kubelet has nothing to report. */
const settledPod = anyPod.map(({ spec }): ResizedPod => ({ spec, status: {} }));

/** Pods, some of which are being resized, in every way that Kubernetes has. */
export const resizedPod: fc.Arbitrary<ResizedPod> = fc.oneof(
  { weight: 6, arbitrary: anyPod },
  { weight: 1, arbitrary: swappingPod },
  { weight: 1, arbitrary: settledPod },
);
