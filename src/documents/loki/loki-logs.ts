import { recordOf } from './loki-answer.ts';
import { isTooManySeries, type LokiKind, type LokiQuestions } from './loki-kind.ts';
import { type LokiLabels, toContainerCount, toLogQuery, toSelector } from './loki-query.ts';
import { lengthMs, type Slice } from './loki-slice.ts';

/** The most containers counted in one query: half of the series that Loki allows (`max_query_series`). */
const CONTAINERS_AT_ONCE = 250;

/** Logs: the message is the line, and the names are labels of its stream. */
export const lokiLogs = (labels: LokiLabels): LokiKind => ({
  namespaceLabel: labels.namespace,
  toLogQuery: (conditions, namespaces) => toLogQuery(conditions, namespaces, labels),
  countIds: (slice, questions) => countContainers(slice, labels, questions),
  recordOf: (entry) => recordOf(entry, labels),
});

/** Counts the containers of a slice. If there are more than Loki counts in one query, they are counted in groups of pods. */
async function countContainers(slice: Slice, labels: LokiLabels, questions: LokiQuestions): Promise<number> {
  const ask = (some: Slice): Promise<number> => {
    const logQuery = toLogQuery(some.conditions, some.namespaces, labels);
    return questions.number(some, toContainerCount(logQuery, lengthMs(some), labels));
  };
  try {
    return await ask(slice);
  } catch (error) {
    if (!isTooManySeries(error)) throw error;
  }
  const counts = (await podGroups(slice, labels, questions)).map((pods) =>
    ask({ ...slice, conditions: [...slice.conditions, { field: 'pod', match: 'exact', values: pods }] }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** The pods of a slice, in groups with so few containers that one query can count them. */
async function podGroups(slice: Slice, labels: LokiLabels, questions: LokiQuestions): Promise<string[][]> {
  const all = await questions.streams(slice, toSelector(slice.conditions, slice.namespaces, labels));
  const streams = Map.groupBy(all, ({ [labels.pod]: pod }) => (typeof pod === 'string' ? pod : ''));
  const groups: string[][] = [];
  let room = 0;
  for (const [pod, { length }] of streams) {
    if (length > room) {
      groups.push([]);
      room = CONTAINERS_AT_ONCE;
    }
    groups.at(-1)?.push(pod);
    room -= length;
  }
  return groups;
}
