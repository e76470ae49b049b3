import type { KubernetesObject } from '../../kubernetes/object.ts';
import { statusFilter } from '../../resources/query/filter.ts';
import type { SortKey } from '../../resources/query/list-query.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, SORT_WORDS } from './kind-words.ts';
import { updatedAt } from './update-time.ts';

/** The states of a workload in KubeSphere 3.4, by how many of its pods are wanted and how many are ready. */
const WORKLOAD_STATES = ['running', 'updating', 'stopped'] as const;

type WorkloadState = (typeof WORKLOAD_STATES)[number];

/** What the orders of workloads read. */
interface WorkloadOwn {
  /** Milliseconds since 1970. Only deployments are ordered by it. */
  readonly updatedAt?: number;
  /** The part of the wanted pods that is ready; 1 if none is wanted. */
  readonly ready: number;
}

const byOwn = (word: string, value: (own: WorkloadOwn) => number): readonly [string, SortKey] => [
  word,
  { word, value: ({ own }) => value(own as WorkloadOwn) },
];

const BY_READY = byOwn('ready', ({ ready }) => ready);

const FILTERS: KindWords['filters'] = new Map([['status', statusFilter(WORKLOAD_STATES)]]);

/** Deployments: wanted are the pods that exist (`status.replicas`), which are more than `spec.replicas` during an update. */
export const DEPLOYMENT_WORDS: KindWords = {
  sortWords: new Map([...SORT_WORDS, byOwn('updateTime', (own) => own.updatedAt ?? 0), BY_READY]),
  filters: FILTERS,
  statusOf({ status }) {
    const { replicas, readyReplicas } = asObject(status);
    return stateOf(countOf(replicas), countOf(readyReplicas));
  },
  project: (deployment): WorkloadOwn => ({ updatedAt: updatedAt(deployment), ready: readyReplicas(deployment) }),
};

/** StatefulSets. One without `spec.replicas` is stopped. */
export const STATEFUL_SET_WORDS: KindWords = {
  sortWords: new Map([...SORT_WORDS, BY_READY]),
  filters: FILTERS,
  statusOf: statefulSetState,
  project: (set): WorkloadOwn => ({ ready: readyReplicas(set) }),
};

export const DAEMON_SET_WORDS: KindWords = {
  sortWords: new Map([...SORT_WORDS, BY_READY]),
  filters: FILTERS,
  project({ status }): WorkloadOwn {
    const { desiredNumberScheduled, numberReady } = asObject(status);
    return { ready: partOf(countOf(desiredNumberScheduled), countOf(numberReady)) };
  },
  statusOf({ status }) {
    const { desiredNumberScheduled, numberReady } = asObject(status);
    return stateOf(countOf(desiredNumberScheduled), countOf(numberReady));
  },
};

function statefulSetState({ spec, status }: KubernetesObject): WorkloadState {
  const { replicas } = asObject(spec);
  if (typeof replicas !== 'number') return 'stopped';
  return stateOf(replicas, countOf(asObject(status)['readyReplicas']));
}

/** By `spec.replicas`, as kubectl prints its column READY: an update that has more pods for a while is ready when these are. */
const readyReplicas = ({ spec, status }: KubernetesObject): number =>
  partOf(countOf(asObject(spec)['replicas']), countOf(asObject(status)['readyReplicas']));

const partOf = (wanted: number, ready: number): number => (wanted === 0 ? 1 : ready / wanted);

function stateOf(wanted: number, ready: number): WorkloadState {
  if (wanted !== ready) return 'updating';
  return wanted === 0 ? 'stopped' : 'running';
}

/** Kubernetes leaves a number out if it is 0. */
const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
