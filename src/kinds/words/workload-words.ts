import type { KubernetesObject } from '../../kubernetes/object.ts';
import { statusFilter } from '../../resources/query/filter.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { UPDATE_TIME_WORDS, updatedAt } from './update-time.ts';

/** The states of a workload in KubeSphere 3.4, by how many of its pods are wanted and how many are ready. */
const WORKLOAD_STATES = ['running', 'updating', 'stopped'] as const;

type WorkloadState = (typeof WORKLOAD_STATES)[number];

const FILTERS: KindWords['filters'] = new Map([['status', statusFilter(WORKLOAD_STATES)]]);

/** Deployments: wanted are the pods that exist (`status.replicas`), which are more than `spec.replicas` during an update. */
export const DEPLOYMENT_WORDS: KindWords = {
  sortWords: UPDATE_TIME_WORDS,
  filters: FILTERS,
  statusOf({ status }) {
    const { replicas, readyReplicas } = asObject(status);
    return stateOf(countOf(replicas), countOf(readyReplicas));
  },
  project: updatedAt,
};

/** StatefulSets. One without `spec.replicas` is stopped. */
export const STATEFUL_SET_WORDS: KindWords = { ...PLAIN_WORDS, filters: FILTERS, statusOf: statefulSetState };

export const DAEMON_SET_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: FILTERS,
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

function stateOf(wanted: number, ready: number): WorkloadState {
  if (wanted !== ready) return 'updating';
  return wanted === 0 ? 'stopped' : 'running';
}

/** Kubernetes leaves a number out if it is 0. */
const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
