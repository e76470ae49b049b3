/**
 * Writes the PromQL of a metric. `nodes` is a matcher of the label `node` that begins with a comma, or empty for all nodes
 * (`node-matcher.ts`).
 */
type NodeQuery = (nodes: string) => string;

/*
 * The names and their meanings are KubeSphere 3.4's (`pkg/models/monitoring/named_metrics.go`, Apache License 2.0). The queries are our own:
 * they read the series of node-exporter and kube-state-metrics as kube-prometheus sets them up, and no recording rule. The metrics of the
 * cluster are sums over its nodes, so the two always agree.
 */

const POD = 'namespace, pod';

/** The node of each pod, with value 1. During a move a pod may be told of twice: then one of its nodes counts. */
const nodeOfPod: NodeQuery = (nodes) => `topk by (${POD}) (1, max by (${POD}, node) (kube_pod_info{node!=""${nodes}}))`;

const ofPods = (perPod: string, nodes: string): string =>
  `(${perPod}) * on (${POD}) group_left (node) ${nodeOfPod(nodes)}`;

/** What each node-exporter tells of its whole node. With two exporters on a node the greater value counts, not their sum. */
const ofHost =
  (perPod: string): NodeQuery =>
  (nodes) =>
    `max by (node) (${ofPods(perPod, nodes)})`;

/** The sum over the pods of each node; 0 for a node whose pods all have no value. */
const sumOfPods =
  (perPod: string): NodeQuery =>
  (nodes) =>
    `sum by (node) (${ofPods(perPod, nodes)}) or 0 * count by (node) (${nodeOfPod(nodes)})`;

/** Five minutes hold two scrapes or more at every usual interval. */
const rate = (selector: string): string => `sum by (${POD}) (rate(${selector}[5m]))`;

const host = (series: string): string => `max by (${POD}) (${series})`;

/** A disk may be mounted in several places; each counts once. Loop devices are images of other files. */
const disks = (series: string): string =>
  `sum by (${POD}) (max by (${POD}, device) (${series}{device=~"/dev/.+",device!~"/dev/loop[0-9]+"}))`;

/** Without device mapper and RAID, whose reads and writes are those of disks that count already. */
const io = (series: string): string => rate(`${series}{device=~"(nvme|rbd|sd|vd|xvd|mmcblk|dasd).+"}`);

/** Without the devices of pods and tunnels, whose bytes pass through a device that counts already. */
const net = (series: string): string =>
  rate(
    `${series}{device!~"lo|(veth|cali|cni|docker|flannel|tunl|ip6tnl|kube|nodelocaldns|dummy|br-|cilium|lxc|virbr|tap|tun|vxlan|genev|ovs|weave|sit).*"}`,
  );

const CPUS = `count by (${POD}) (node_cpu_seconds_total{mode="idle"})`;
const CPU_USED = rate('node_cpu_seconds_total{mode!~"idle|iowait|steal"}');
const MEMORY = host('node_memory_MemTotal_bytes');
const MEMORY_AVAILABLE = host('node_memory_MemAvailable_bytes');
const DISK = disks('node_filesystem_size_bytes');
const DISK_AVAILABLE = disks('node_filesystem_avail_bytes');
const INODES = disks('node_filesystem_files');
const INODES_FREE = disks('node_filesystem_files_free');
const RECEIVED = net('node_network_receive_bytes_total');
const TRANSMITTED = net('node_network_transmit_bytes_total');
const difference = (all: string, rest: string): string => `${all} - ${rest}`;

const phase = (matcher: string): string => host(`kube_pod_status_phase{phase${matcher}}`);
const RUNNING = phase('="Running"');
const READY = host('kube_pod_status_ready{condition="true"}');
const STARTING = host('kube_pod_container_status_waiting_reason{reason="ContainerCreating"}');
const NOT_SUCCEEDED = phase('!="Succeeded"');
/** Pods that have not succeeded, are not running and ready, and whose containers are not just being created. */
const ABNORMAL = `(${NOT_SUCCEEDED} == 1) unless on (${POD}) (${RUNNING} == 1 and on (${POD}) ${READY} == 1) unless on (${POD}) ${STARTING} == 1`;

const ratio = (part: string, whole: string): string => `(${part}) / (${whole})`;
const ratioOf =
  (part: NodeQuery, whole: NodeQuery): NodeQuery =>
  (nodes) =>
    ratio(part(nodes), whole(nodes));

const capacityOfPods: NodeQuery = (nodes) => `max by (node) (kube_node_status_capacity{resource="pods"${nodes}})`;
const readyNodes = (status: string): string =>
  `sum(max by (node) (kube_node_status_condition{condition="Ready",status${status}}))`;
const NODES = 'count(count by (node) (kube_node_info))';

interface Added {
  readonly node: NodeQuery;
  /** Default: the sum over the nodes. */
  readonly cluster?: string;
}

/** Metrics that each node has and that add up to the cluster's, by the end of their names. */
const ADDED = {
  cpu_usage: { node: ofHost(CPU_USED) },
  cpu_total: { node: ofHost(CPUS) },
  memory_usage_wo_cache: { node: ofHost(difference(MEMORY, MEMORY_AVAILABLE)) },
  memory_available: { node: ofHost(MEMORY_AVAILABLE) },
  memory_total: { node: ofHost(MEMORY) },
  net_utilisation: { node: ofHost(`${RECEIVED} + ${TRANSMITTED}`) },
  net_bytes_transmitted: { node: ofHost(TRANSMITTED) },
  net_bytes_received: { node: ofHost(RECEIVED) },
  disk_read_iops: { node: ofHost(io('node_disk_reads_completed_total')) },
  disk_write_iops: { node: ofHost(io('node_disk_writes_completed_total')) },
  disk_read_throughput: { node: ofHost(io('node_disk_read_bytes_total')) },
  disk_write_throughput: { node: ofHost(io('node_disk_written_bytes_total')) },
  disk_size_usage: { node: ofHost(difference(DISK, DISK_AVAILABLE)) },
  disk_size_capacity: { node: ofHost(DISK) },
  disk_size_available: { node: ofHost(DISK_AVAILABLE) },
  disk_inode_total: { node: ofHost(INODES) },
  disk_inode_usage: { node: ofHost(difference(INODES, INODES_FREE)) },
  pod_quota: { node: capacityOfPods },
  // A pod without a node is none of any node's, but one of the cluster's.
  pod_count: { node: sumOfPods(phase('!~"Failed|Succeeded"')), cluster: `sum(${phase('!~"Failed|Succeeded"')})` },
  pod_running_count: { node: sumOfPods(RUNNING), cluster: `sum(${RUNNING})` },
  pod_succeeded_count: { node: sumOfPods(phase('="Succeeded"')), cluster: `sum(${phase('="Succeeded"')})` },
  pod_abnormal_count: { node: sumOfPods(ABNORMAL), cluster: `count(${ABNORMAL}) or 0 * ${NODES}` },
} as const satisfies Readonly<Record<string, Added>>;

const sumOf = (query: NodeQuery): string => `sum(${query('')})`;
const nodeMetric = (end: keyof typeof ADDED): NodeQuery => ADDED[end].node;
const clusterMetric = (end: keyof typeof ADDED): string => (ADDED[end] as Added).cluster ?? sumOf(nodeMetric(end));

/** Shares from 0 to 1, by the end of their names: what is divided by what. */
const SHARES: Readonly<Record<string, readonly [part: keyof typeof ADDED, whole: keyof typeof ADDED]>> = {
  cpu_utilisation: ['cpu_usage', 'cpu_total'],
  memory_utilisation: ['memory_usage_wo_cache', 'memory_total'],
  disk_size_utilisation: ['disk_size_usage', 'disk_size_capacity'],
  disk_inode_utilisation: ['disk_inode_usage', 'disk_inode_total'],
  pod_utilisation: ['pod_running_count', 'pod_quota'],
};

/** Load for each CPU. */
const LOADS: Readonly<Record<string, NodeQuery>> = {
  load1: ofHost(host('node_load1')),
  load5: ofHost(host('node_load5')),
  load15: ofHost(host('node_load15')),
};

/** Objects that are counted, by the start of the name: a series of kube-state-metrics that each of them has, and its labels. */
const COUNTED: Readonly<Record<string, readonly [series: string, labels: string]>> = {
  namespace: ['kube_namespace_created', 'namespace'],
  cronjob: ['kube_cronjob_info', 'namespace, cronjob'],
  pvc: ['kube_persistentvolumeclaim_info', 'namespace, persistentvolumeclaim'],
  daemonset: ['kube_daemonset_created', 'namespace, daemonset'],
  deployment: ['kube_deployment_created', 'namespace, deployment'],
  endpoint: ['kube_endpoint_info', 'namespace, endpoint'],
  hpa: ['kube_horizontalpodautoscaler_info', 'namespace, horizontalpodautoscaler'],
  job: ['kube_job_info', 'namespace, job_name'],
  statefulset: ['kube_statefulset_created', 'namespace, statefulset'],
  replicaset: ['kube_replicaset_created', 'namespace, replicaset'],
  service: ['kube_service_info', 'namespace, service'],
  secret: ['kube_secret_info', 'namespace, secret'],
  pv: ['kube_persistentvolume_info', 'persistentvolume'],
  ingresses_extensions: ['kube_ingress_info', 'namespace, ingress'],
};

const named = <Key extends string, From, To>(
  prefix: string,
  table: Readonly<Record<Key, From>>,
  make: (from: From, key: Key) => To,
): readonly (readonly [string, To])[] =>
  (Object.entries(table) as [Key, From][]).map(([key, from]) => [prefix + key, make(from, key)]);

/** Each metric of nodes that is offered, with its PromQL. */
export const NODE_QUERIES: ReadonlyMap<string, NodeQuery> = new Map([
  ...named('node_', ADDED, ({ node }) => node),
  ...named('node_', SHARES, ([part, whole]) => ratioOf(nodeMetric(part), nodeMetric(whole))),
  ...named('node_', LOADS, (load) => ratioOf(load, nodeMetric('cpu_total'))),
  ['node_pod_abnormal_ratio', ratioOf(nodeMetric('pod_abnormal_count'), sumOfPods(NOT_SUCCEEDED))],
]);

/** Each metric of the cluster that is offered, with its PromQL. */
export const CLUSTER_QUERIES: ReadonlyMap<string, string> = new Map([
  ...named('cluster_', ADDED, (_, end) => clusterMetric(end)),
  ...named('cluster_', SHARES, ([part, whole]) => ratio(clusterMetric(part), clusterMetric(whole))),
  ...named('cluster_', LOADS, (load) => ratio(sumOf(load), clusterMetric('cpu_total'))),
  ['cluster_pod_abnormal_ratio', ratio(clusterMetric('pod_abnormal_count'), `sum(${NOT_SUCCEEDED})`)],
  ['cluster_node_total', NODES],
  ['cluster_node_online', readyNodes('="true"')],
  ['cluster_node_offline', readyNodes('=~"false|unknown"')],
  ['cluster_node_offline_ratio', ratio(readyNodes('=~"false|unknown"'), NODES)],
  // Zero, and not nothing, where kube-state-metrics knows the cluster but no such object.
  ...Object.entries(COUNTED).map(
    ([start, [series, labels]]) =>
      [`cluster_${start}_count`, `count(count by (${labels}) (${series})) or 0 * ${NODES}`] as const,
  ),
]);

/** One series for each node that kube-state-metrics knows. */
export const allNodes: NodeQuery = (nodes) => `max by (node) (kube_node_info{node!=""${nodes}})`;
