/** A machine of the made-up cluster: the numbers that its exporters tell. */
export interface Machine {
  readonly name: string;
  readonly cpus: number;
  /** The average of all CPUs together. */
  readonly usedCpus: number;
  readonly memory: { readonly total: number; readonly available: number };
  readonly disk: { readonly size: number; readonly available: number; readonly inodes: number; readonly free: number };
  /** A second. */
  readonly io: {
    readonly reads: number;
    readonly writes: number;
    readonly readBytes: number;
    readonly writtenBytes: number;
  };
  readonly net: { readonly received: number; readonly transmitted: number };
  readonly load: readonly [one: number, five: number, fifteen: number];
  readonly podQuota: number;
  readonly isReady: boolean;
}

export interface MadeUpPod {
  readonly name: string;
  /** `''`: it has none yet. */
  readonly node: string;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly ready?: boolean;
  readonly starting?: boolean;
}

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** A value, or one that grows by so much a second from zero on. */
type Value = number | { readonly perSecond: number };

export type MadeUpSeries = readonly [series: string, value: Value];

const labelled = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

/** What node-exporter tells of a machine, with the labels that kube-prometheus adds: those of the exporter's pod. */
export function nodeExporterSeries(machine: Machine): readonly MadeUpSeries[] {
  const own = {
    job: 'node-exporter',
    instance: `${machine.name}:9100`,
    namespace: 'monitoring',
    pod: exporterOf(machine.name),
  };
  const of = (name: string, value: Value, labels: Readonly<Record<string, string>> = {}): MadeUpSeries => [
    labelled(name, { ...own, ...labels }),
    value,
  ];
  const { cpus, usedCpus, memory, disk, io, net, load } = machine;
  const cpu = Array.from({ length: cpus }, (_, at) => {
    const mode = (word: string, perSecond: number) =>
      of('node_cpu_seconds_total', { perSecond }, { cpu: `${at}`, mode: word });
    const used = usedCpus / cpus;
    return [mode('user', used * 0.75), mode('system', used * 0.25), mode('idle', 1 - used), mode('iowait', 0)];
  }).flat();
  const mounts = ['/', '/var/lib/kubelet'].flatMap((mountpoint) =>
    Object.entries({
      size_bytes: disk.size,
      avail_bytes: disk.available,
      files: disk.inodes,
      files_free: disk.free,
    }).map(([end, value]) => of(`node_filesystem_${end}`, value, { device: '/dev/vda1', mountpoint })),
  );
  // None of these counts: an image, memory, a mapped device of the same disk, a pod's end of the network.
  const others = [
    of('node_filesystem_size_bytes', 7e9, { device: '/dev/loop3', mountpoint: '/snap' }),
    of('node_filesystem_size_bytes', 8e9, { device: 'tmpfs', mountpoint: '/run' }),
    of('node_disk_reads_completed_total', { perSecond: 77 }, { device: 'dm-0' }),
    of('node_network_receive_bytes_total', { perSecond: 1e6 }, { device: 'lo' }),
    of('node_network_transmit_bytes_total', { perSecond: 1e6 }, { device: 'veth12ab' }),
  ];
  return [
    ...cpu,
    ...mounts,
    ...others,
    of('node_memory_MemTotal_bytes', memory.total),
    of('node_memory_MemAvailable_bytes', memory.available),
    of('node_disk_reads_completed_total', { perSecond: io.reads }, { device: 'vda' }),
    of('node_disk_writes_completed_total', { perSecond: io.writes }, { device: 'vda' }),
    of('node_disk_read_bytes_total', { perSecond: io.readBytes }, { device: 'vda' }),
    of('node_disk_written_bytes_total', { perSecond: io.writtenBytes }, { device: 'vda' }),
    of('node_network_receive_bytes_total', { perSecond: net.received }, { device: 'eth0' }),
    of('node_network_transmit_bytes_total', { perSecond: net.transmitted }, { device: 'eth0' }),
    of('node_load1', load[0]),
    of('node_load5', load[1]),
    of('node_load15', load[2]),
  ];
}

const exporterOf = (node: string): string => `node-exporter-${node}`;

/** What kube-state-metrics tells of these machines and pods, and of some other objects. */
export function kubeStateSeries(machines: readonly Machine[], pods: readonly MadeUpPod[]): readonly MadeUpSeries[] {
  const of = (name: string, value: number, labels: Readonly<Record<string, string>>): MadeUpSeries => [
    labelled(name, { job: 'kube-state-metrics', instance: '10.0.0.9:8080', ...labels }),
    value,
  ];
  const nodes = machines.flatMap(({ name: node, podQuota, isReady }) => [
    of('kube_node_info', 1, { node, kubelet_version: 'v1.33.0' }),
    of('kube_node_status_capacity', podQuota, { node, resource: 'pods', unit: 'integer' }),
    ...['true', 'false', 'unknown'].map((status) =>
      of('kube_node_status_condition', Number((status === 'true') === isReady && status !== 'unknown'), {
        node,
        condition: 'Ready',
        status,
      }),
    ),
  ]);
  const exporters = machines.map(({ name }) =>
    podSeries(of, { name: exporterOf(name), node: name, phase: 'Running', ready: true }, 'monitoring'),
  );
  return [
    ...nodes,
    ...exporters.flat(),
    ...pods.flatMap((pod) => podSeries(of, pod, 'shop')),
    ...['monitoring', 'shop'].map((namespace) => of('kube_namespace_created', 1.7e9, { namespace })),
    of('kube_deployment_created', 1.7e9, { namespace: 'shop', deployment: 'web' }),
    of('kube_daemonset_created', 1.7e9, { namespace: 'monitoring', daemonset: 'node-exporter' }),
    of('kube_service_info', 1, { namespace: 'shop', service: 'web', cluster_ip: '10.1.1.1' }),
  ];
}

function podSeries(
  of: (name: string, value: number, labels: Readonly<Record<string, string>>) => MadeUpSeries,
  { name: pod, node, phase, ready = false, starting = false }: MadeUpPod,
  namespace: string,
): readonly MadeUpSeries[] {
  return [
    of('kube_pod_info', 1, { namespace, pod, node, host_ip: node === '' ? '' : '10.0.0.1' }),
    ...PHASES.map((word) => of('kube_pod_status_phase', Number(word === phase), { namespace, pod, phase: word })),
    of('kube_pod_status_ready', Number(ready), { namespace, pod, condition: 'true' }),
    ...(starting
      ? [
          of('kube_pod_container_status_waiting_reason', 1, {
            ...{ namespace, pod, container: 'main', reason: 'ContainerCreating' },
          }),
        ]
      : []),
  ];
}

/** The series as OpenMetrics, with a value for each of these times in seconds. */
export function toOpenMetrics(series: readonly MadeUpSeries[], times: readonly number[]): string {
  const [first = 0] = times;
  const lines = series.flatMap(([name, value]) =>
    times.map((at) => `${name} ${typeof value === 'number' ? value : value.perSecond * (at - first)} ${at}`),
  );
  return [...lines, '# EOF', ''].join('\n');
}
