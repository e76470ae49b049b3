import { asObject } from '../../runtime/text/json-value.ts';
import type { DocumentKind } from '../document-kind.ts';
import { toRecord } from '../store/document-store.ts';

/** The messages of containers, as collectors write them for KubeSphere 3.4 (docs/contract/logging.md). */
export const LOGS = {
  name: 'logs',
  operations: ['query', 'statistics', 'histogram', 'export'],
  scope: { namespaces: 'namespaces', namespace_query: 'namespaceParts' },
  conditions: {
    workloads: { field: 'pod', match: 'workload' },
    workload_query: { field: 'pod', match: 'phrase' },
    pods: { field: 'pod', match: 'exact' },
    pod_query: { field: 'pod', match: 'phrase' },
    containers: { field: 'container', match: 'exact' },
    container_query: { field: 'container', match: 'phrase' },
    log_query: { field: 'message', match: 'phrase' },
  },
  ignored: [],
  right: { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' },
  fields: {
    namespace: ['kubernetes.namespace_name'],
    pod: ['kubernetes.pod_name'],
    container: ['kubernetes.container_name'],
    message: ['log'],
  },
  namespace: 'namespace',
  time: 'time',
  counted: ['kubernetes.docker_id'],
  source: ['log', 'time', 'kubernetes.namespace_name', 'kubernetes.pod_name', 'kubernetes.container_name'],
  answer: { counted: 'containers', total: 'logs', buckets: 'histograms' },
  toRecord: ({ log, time, kubernetes }) => {
    const { namespace_name: namespace, pod_name: pod, container_name: container } = asObject(kubernetes);
    return toRecord({ log, time, namespace, pod, container });
  },
} as const satisfies DocumentKind;

/** The place of a message in the store. */
export const [MESSAGE] = LOGS.fields.message;
