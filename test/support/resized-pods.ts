import fc from 'fast-check';

type Members = Readonly<Record<string, unknown>>;

const CPU = ['0', '100m', '250m', '1', '1500m', '2', '60'];
const MEMORY = ['0', '64Mi', '128Mi', '500M', '1Gi', '1073741824', '2Gi'];
/** The names of all containers and statuses. They are few, so that a status often names a container. */
const NAMES = ['a', 'b', 'c', 'd'];

const resourceList = fc.record(
  { cpu: fc.constantFrom(...CPU), memory: fc.constantFrom(...MEMORY) },
  { requiredKeys: [] },
);
const resources = fc.record({ requests: resourceList, limits: resourceList }, { requiredKeys: [] });
const name = fc.constantFrom(...NAMES);

const container = fc.record({ name, resources }, { requiredKeys: ['name'] });
const initContainer = fc.record(
  { name, resources, restartPolicy: fc.constantFrom('Always') },
  { requiredKeys: ['name'] },
);
const status = fc.record({ name, resources, allocatedResources: resourceList }, { requiredKeys: ['name'] });
const condition = fc.record({
  type: fc.constantFrom('Ready', 'PodResizePending', 'PodResizeInProgress'),
  reason: fc.constantFrom('Infeasible', 'Deferred', 'Error'),
});

/** A status counts if the kubelet says that it resizes the pod. */
const IN_PROGRESS = { type: 'PodResizeInProgress', reason: '' };

const several = { maxLength: NAMES.length, size: 'max' } as const;

/** Pods with every kind of container, and statuses of them as the kubelet writes them while it resizes in place. */
export const resizedPod: fc.Arbitrary<{ readonly spec: Members; readonly status: Members }> = fc.record({
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
      conditions: fc.array(condition, { maxLength: 3, size: 'max' }).map((conditions) => [IN_PROGRESS, ...conditions]),
    },
    { requiredKeys: ['conditions'] },
  ),
});
