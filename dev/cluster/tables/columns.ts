import { isRecord, type KubeObject, memberAt } from '../kube-object.ts';
import { ageText } from './age.ts';
import { podReady, podRestarts, podStatus } from './pod-cells.ts';

export type Cell = string | number | boolean | null;

/** A column of a Table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string | undefined;
  readonly description?: string;
  /** 1: shown by `kubectl get -o wide` only. Default 0. */
  readonly priority?: number | undefined;
  cell(object: KubeObject, now: number): Cell;
}

type Print = Column['cell'];

const NONE = '<none>';

const text = (name: string, cell: Print): Column => ({ name, type: 'string', cell });
const integer = (name: string, cell: Print): Column => ({ name, type: 'integer', cell });
const wide = (column: Column): Column => ({ ...column, priority: 1 });

const at = (object: unknown, path: string): unknown => memberAt(object, path.split('.'));
const numberAt = (object: KubeObject, path: string): number => Number(at(object, path) ?? 0);
const textAt = (object: KubeObject, path: string, absent = ''): string => String(at(object, path) ?? absent);
const listAt = (object: unknown, path: string): readonly Readonly<Record<string, unknown>>[] =>
  (at(object, path) ?? []) as readonly Readonly<Record<string, unknown>>[];

const AGE = text('Age', ({ metadata }, now) => ageText(now - Date.parse(metadata.creationTimestamp)));
const CREATED: Column = { name: 'Created At', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp };

const sizeOf = (value: unknown): number => (isRecord(value) ? Object.keys(value).length : 0);

/** A set of labels as a selector prints them. */
const labelsText = (labels: unknown): string =>
  isRecord(labels) && sizeOf(labels) > 0
    ? Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(',')
    : NONE;

/** Containers, images and selector of what makes pods. */
const ofTemplate = (path: string): readonly Column[] => {
  const names =
    (member: string): Print =>
    (object) =>
      listAt(object, `${path}.spec.containers`)
        .map((container) => String(container[member]))
        .join(',');
  return [wide(text('Containers', names('name'))), wide(text('Images', names('image')))];
};
const selectorAt = (path: string): Column => wide(text('Selector', (object) => labelsText(at(object, path))));

const DESIRED: readonly Column[] = [
  integer('Desired', (object) => numberAt(object, 'spec.replicas')),
  integer('Current', (object) => numberAt(object, 'status.replicas')),
  integer('Ready', (object) => numberAt(object, 'status.readyReplicas')),
  AGE,
];
const READY_OF_WANTED = text(
  'Ready',
  (object) => `${numberAt(object, 'status.readyReplicas')}/${numberAt(object, 'spec.replicas')}`,
);

const ACCESS: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};
const accessAt = (path: string): Column =>
  text('Access Modes', (object) =>
    ((at(object, path) ?? []) as readonly string[]).map((mode) => ACCESS[mode]).join(','),
  );

function roles({ metadata }: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const found = Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
  return (
    found
      .map((label) => label.slice(prefix.length))
      .sort()
      .join(',') || NONE
  );
}

function nodeStatus(object: KubeObject): string {
  const ready = listAt(object, 'status.conditions').find(({ type }) => type === 'Ready')?.['status'];
  const word = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  return at(object, 'spec.unschedulable') ? `${word},SchedulingDisabled` : word;
}

const addressOf =
  (type: string): Print =>
  (object) =>
    String(listAt(object, 'status.addresses').find((one) => one['type'] === type)?.['address'] ?? NONE);

const portsOf = (object: KubeObject): string =>
  listAt(object, 'spec.ports')
    .map(({ port, nodePort, protocol = 'TCP' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`)
    .join(',') || NONE;

function jobStatus(object: KubeObject): string {
  const holds = (wanted: string): boolean =>
    listAt(object, 'status.conditions').some(({ type, status }) => type === wanted && status === 'True');
  return holds('Complete') ? 'Complete' : holds('Failed') ? 'Failed' : holds('Suspended') ? 'Suspended' : 'Running';
}

function jobDuration(object: KubeObject, now: number): string {
  const began = at(object, 'status.startTime');
  if (typeof began !== 'string') return '';
  const ended = at(object, 'status.completionTime');
  return ageText((typeof ended === 'string' ? Date.parse(ended) : now) - Date.parse(began));
}

const sinceAt =
  (path: string): Print =>
  (object, now) => {
    const time = at(object, path);
    return typeof time === 'string' ? ageText(now - Date.parse(time)) : NONE;
  };

/** The columns after the name, by the name of the kind, as `pkg/printers/internalversion` of Kubernetes has them. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  // A real server calls it a string, too, and sends a number.
  configmaps: [text('Data', (object) => sizeOf(object['data']) + sizeOf(object['binaryData'])), AGE],
  secrets: [text('Type', (object) => textAt(object, 'type')), text('Data', (object) => sizeOf(object['data'])), AGE],
  serviceaccounts: [text('Secrets', (object) => listAt(object, 'secrets').length), AGE],
  namespaces: [text('Status', (object) => textAt(object, 'status.phase')), AGE],
  nodes: [
    text('Status', nodeStatus),
    text('Roles', roles),
    AGE,
    text('Version', (object) => textAt(object, 'status.nodeInfo.kubeletVersion')),
    wide(text('Internal-IP', addressOf('InternalIP'))),
    wide(text('External-IP', addressOf('ExternalIP'))),
    wide(text('OS-Image', (object) => textAt(object, 'status.nodeInfo.osImage', '<unknown>'))),
    wide(text('Kernel-Version', (object) => textAt(object, 'status.nodeInfo.kernelVersion', '<unknown>'))),
    wide(text('Container-Runtime', (object) => textAt(object, 'status.nodeInfo.containerRuntimeVersion', '<unknown>'))),
  ],
  pods: [
    text('Ready', podReady),
    text('Status', podStatus),
    text('Restarts', podRestarts),
    AGE,
    wide(text('IP', (object) => textAt(object, 'status.podIP', NONE))),
    wide(text('Node', (object) => textAt(object, 'spec.nodeName', NONE))),
    wide(text('Nominated Node', (object) => textAt(object, 'status.nominatedNodeName', NONE))),
    wide(text('Readiness Gates', () => NONE)),
  ],
  services: [
    text('Type', (object) => textAt(object, 'spec.type')),
    text('Cluster-IP', (object) => textAt(object, 'spec.clusterIP', NONE)),
    text('External-IP', () => NONE),
    text('Port(s)', portsOf),
    AGE,
    selectorAt('spec.selector'),
  ],
  deployments: [
    READY_OF_WANTED,
    text('Up-to-date', (object) => numberAt(object, 'status.updatedReplicas')),
    text('Available', (object) => numberAt(object, 'status.availableReplicas')),
    AGE,
    ...ofTemplate('spec.template'),
    selectorAt('spec.selector.matchLabels'),
  ],
  statefulsets: [READY_OF_WANTED, AGE, ...ofTemplate('spec.template')],
  daemonsets: [
    integer('Desired', (object) => numberAt(object, 'status.desiredNumberScheduled')),
    integer('Current', (object) => numberAt(object, 'status.currentNumberScheduled')),
    integer('Ready', (object) => numberAt(object, 'status.numberReady')),
    integer('Up-to-date', (object) => numberAt(object, 'status.updatedNumberScheduled')),
    integer('Available', (object) => numberAt(object, 'status.numberAvailable')),
    text('Node Selector', (object) => labelsText(at(object, 'spec.template.spec.nodeSelector'))),
    AGE,
    ...ofTemplate('spec.template'),
    selectorAt('spec.selector.matchLabels'),
  ],
  replicasets: [...DESIRED, ...ofTemplate('spec.template'), selectorAt('spec.selector.matchLabels')],
  replicationcontrollers: [...DESIRED, ...ofTemplate('spec.template'), selectorAt('spec.selector')],
  jobs: [
    text('Status', jobStatus),
    text(
      'Completions',
      (object) => `${numberAt(object, 'status.succeeded')}/${textAt(object, 'spec.completions', '1')}`,
    ),
    text('Duration', jobDuration),
    AGE,
    ...ofTemplate('spec.template'),
    selectorAt('spec.selector.matchLabels'),
  ],
  cronjobs: [
    text('Schedule', (object) => textAt(object, 'spec.schedule')),
    text('Timezone', (object) => textAt(object, 'spec.timeZone', NONE)),
    { name: 'Suspend', type: 'boolean', cell: (object) => (at(object, 'spec.suspend') === true ? 'True' : 'False') },
    integer('Active', (object) => listAt(object, 'status.active').length),
    text('Last Schedule', sinceAt('status.lastScheduleTime')),
    AGE,
    ...ofTemplate('spec.jobTemplate.spec.template'),
    selectorAt('spec.jobTemplate.spec.selector.matchLabels'),
  ],
  persistentvolumeclaims: [
    text('Status', (object) => textAt(object, 'status.phase')),
    text('Volume', (object) => textAt(object, 'spec.volumeName')),
    text('Capacity', (object) => textAt(object, 'status.capacity.storage')),
    accessAt('status.accessModes'),
    text('StorageClass', (object) => textAt(object, 'spec.storageClassName')),
    text('VolumeAttributesClass', (object) => textAt(object, 'spec.volumeAttributesClassName', '<unset>')),
    AGE,
    wide(text('VolumeMode', (object) => textAt(object, 'spec.volumeMode', '<unset>'))),
  ],
  persistentvolumes: [
    text('Capacity', (object) => textAt(object, 'spec.capacity.storage')),
    accessAt('spec.accessModes'),
    text('Reclaim Policy', (object) => textAt(object, 'spec.persistentVolumeReclaimPolicy')),
    text('Status', (object) => textAt(object, 'status.phase')),
    text('Claim', (object) => {
      const claim = at(object, 'spec.claimRef');
      return isRecord(claim) ? `${claim['namespace']}/${claim['name']}` : '';
    }),
    text('StorageClass', (object) => textAt(object, 'spec.storageClassName')),
    text('VolumeAttributesClass', (object) => textAt(object, 'spec.volumeAttributesClassName', '<unset>')),
    text('Reason', (object) => textAt(object, 'status.reason')),
    AGE,
    wide(text('VolumeMode', (object) => textAt(object, 'spec.volumeMode', '<unset>'))),
  ],
  leases: [text('Holder', (object) => textAt(object, 'spec.holderIdentity')), AGE],
  roles: [CREATED],
  clusterroles: [CREATED],
  limitranges: [CREATED],
  customresourcedefinitions: [CREATED],
};

/** The columns of a built-in kind; name and age, if it has no columns of its own here. */
export const columnsFor = (kind: string, name: Column): readonly Column[] => [name, ...(COLUMNS[kind] ?? [AGE])];
