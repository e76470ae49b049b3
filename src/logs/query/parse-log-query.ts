import { invalid, type ParameterReader, quoted, readParameters } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import { LOG_OPERATIONS, type LogFilter, type LogOperation, type LogQuery, type Page } from '../log-query.ts';
import { bucketsIn, DEFAULT_INTERVAL, type Interval, MOST_BUCKETS, parseInterval } from './interval.ts';
import { parseSeconds } from './times.ts';

const MOST_ELEMENTS = 64;
/** Kubernetes names have at most 253 bytes. */
const LONGEST_ELEMENT_BYTES = 256;
/** The default of the stores' `index.max_result_window`. */
const WINDOW = 10_000;
/** A histogram without an end ends this far ahead of now, so that one record with a wrong time does not make a million buckets. */
const AHEAD_SECONDS = 3_600;

const LISTS = {
  namespaces: 'namespaces',
  namespace_query: 'namespaceQueries',
  workloads: 'workloads',
  workload_query: 'workloadQueries',
  pods: 'pods',
  pod_query: 'podQueries',
  containers: 'containers',
  container_query: 'containerQueries',
  log_query: 'phrases',
} as const satisfies Record<string, keyof LogFilter | 'namespaces' | 'namespaceQueries'>;

type List = (typeof LISTS)[keyof typeof LISTS];

/** What the parameters set, with the defaults of those that are absent. */
interface Draft {
  operation: LogOperation;
  readonly lists: Record<List, readonly string[]>;
  readonly time: { start?: number; end?: number };
  interval: Interval;
  readonly page: { -readonly [Name in keyof Page]: Page[Name] };
}

const newDraft = (): Draft => ({
  operation: 'query',
  lists: {
    namespaces: [],
    namespaceQueries: [],
    workloads: [],
    workloadQueries: [],
    pods: [],
    podQueries: [],
    containers: [],
    containerQueries: [],
    phrases: [],
  },
  time: {},
  interval: DEFAULT_INTERVAL,
  page: { order: 'desc', from: 0, size: 10 },
});

/** What one parameter sets. */
type Setting = (draft: Draft) => void;

/**
 * Parses the text after the `?`. `now` is in milliseconds since 1970. Throws one 400 that names every bad parameter in query order.
 * Whether parameters contradict each other is checked only for those that are valid by themselves.
 */
export function parseLogQuery(queryString: string, now: number): LogQuery {
  const settings = readParameters(queryString, READERS, (read, areGood) => contradictions(toQuery(read, now), areGood));
  return toQuery(settings, now);
}

function toQuery(settings: readonly Setting[], now: number): LogQuery {
  const draft = newDraft();
  for (const set of settings) set(draft);
  const { operation, time, interval, page } = draft;
  const { namespaces, namespaceQueries, ...filter } = draft.lists;
  if (operation === 'histogram') time.end ??= Math.max(Math.floor(now / 1_000) + AHEAD_SECONDS, time.start ?? 0);
  return {
    operation,
    namespaces,
    namespaceQueries: namespaceQueries.map((text) => text.toLowerCase()),
    filter,
    time,
    interval,
    page,
  };
}

/** Finds parameters that are valid by themselves but not together. */
function contradictions(
  { operation, time, interval, page }: LogQuery,
  areGood: (...names: readonly string[]) => boolean,
): StatusCause[] {
  const { start, end } = time;
  const causes: StatusCause[] = [];
  if (start !== undefined && end !== undefined && areGood('start_time', 'end_time')) {
    const isHistogram = operation === 'histogram' && areGood('operation', 'interval');
    if (end < start) causes.push(invalid('end_time', 'it is before "start_time"'));
    else if (isHistogram && bucketsIn({ start, end }, interval) > MOST_BUCKETS) causes.push(tooManyBuckets());
  }
  if (operation === 'query' && areGood('operation', 'from', 'size') && page.from + page.size > WINDOW)
    causes.push(invalid(page.size > WINDOW ? 'size' : 'from', `"from" and "size" together are above ${WINDOW}`));
  return causes;
}

export const tooManyBuckets = (): StatusCause =>
  invalid('interval', `more than ${MOST_BUCKETS} buckets; ask for a longer interval or a shorter time`);

/** Treats a parameter with an empty value as absent. */
const unlessEmpty =
  (read: ParameterReader<Setting>): ParameterReader<Setting> =>
  (text, name) =>
    text === '' ? () => {} : read(text, name);

const oneOf =
  <Word extends string>(words: readonly Word[], set: (draft: Draft, word: Word) => void): ParameterReader<Setting> =>
  (text, name) => {
    const word = words.find((one) => one === text);
    if (word === undefined) return invalid(name, `${quoted(text)} is none of ${words.join(', ')}`);
    return (draft) => set(draft, word);
  };

const time =
  (member: 'start' | 'end'): ParameterReader<Setting> =>
  (text, name) => {
    const seconds = parseSeconds(text, name);
    if (typeof seconds !== 'number') return seconds;
    return ({ time }) => {
      time[member] = seconds;
    };
  };

const count =
  (member: 'from' | 'size'): ParameterReader<Setting> =>
  (text, name) => {
    if (!/^[0-9]+$/.test(text)) return invalid(name, `${quoted(text)} is not a whole number, 0 or more`);
    return ({ page }) => {
      page[member] = Number(text);
    };
  };

const interval: ParameterReader<Setting> = (text, name) => {
  const read = parseInterval(text, name);
  if ('reason' in read) return read;
  return (draft) => {
    draft.interval = read;
  };
};

const list =
  (member: List): ParameterReader<Setting> =>
  (text, name) => {
    const elements = text.split(',').filter((element) => element !== '');
    if (elements.length > MOST_ELEMENTS) return invalid(name, `it has more than ${MOST_ELEMENTS} elements`);
    if (elements.some((element) => Buffer.byteLength(element) > LONGEST_ELEMENT_BYTES))
      return invalid(name, `an element is longer than ${LONGEST_ELEMENT_BYTES} bytes`);
    return ({ lists }) => {
      lists[member] = elements;
    };
  };

const ALL: readonly (readonly [string, ParameterReader<Setting>])[] = [
  ['operation', oneOf(LOG_OPERATIONS, (draft, operation) => Object.assign(draft, { operation }))],
  ...Object.entries(LISTS).map(([name, member]) => [name, list(member)] as const),
  ['start_time', time('start')],
  ['end_time', time('end')],
  ['interval', interval],
  ['sort', oneOf(['asc', 'desc'], ({ page }, order) => Object.assign(page, { order }))],
  ['from', count('from')],
  ['size', count('size')],
];

const READERS = new Map(ALL.map(([name, read]) => [name, unlessEmpty(read)]));
