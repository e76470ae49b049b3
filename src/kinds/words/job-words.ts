import type { KubernetesObject } from '../../kubernetes/object.ts';
import { statusFilter } from '../../resources/query/filter.ts';
import type { ValueOrder } from '../../resources/query/list-query.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, SORT_WORDS } from './kind-words.ts';
import { byOwnTime, timeOf, UPDATE_TIME_WORDS, updatedAt } from './update-time.ts';

const JOB_STATES = ['completed', 'failed', 'running'] as const;

const BY_STATUS: ValueOrder = { word: 'status', value: ({ status }) => status };

export const JOB_WORDS: KindWords = {
  sortWords: new Map([...UPDATE_TIME_WORDS, ['status', BY_STATUS]]),
  filters: new Map([['status', statusFilter(JOB_STATES)]]),
  statusOf: jobState,
  project: updatedAt,
};

/** The first of the conditions Complete and Failed that is true decides, as in KubeSphere 3.4. */
function jobState({ status }: KubernetesObject): (typeof JOB_STATES)[number] {
  const conditions = asArray(asObject(status)['conditions']).map(asObject);
  const end = conditions.find(
    (one) => (one['type'] === 'Complete' || one['type'] === 'Failed') && one['status'] === 'True',
  );
  if (!end) return 'running';
  return end['type'] === 'Complete' ? 'completed' : 'failed';
}

export const CRON_JOB_WORDS: KindWords = {
  sortWords: new Map([...SORT_WORDS, ['lastScheduleTime', byOwnTime('lastScheduleTime')]]),
  filters: new Map([['status', statusFilter(['paused', 'running'])]]),
  statusOf: ({ spec }) => (asObject(spec)['suspend'] === true ? 'paused' : 'running'),
  project: ({ status }) => timeOf(asObject(status)['lastScheduleTime']),
};
