import fc from 'fast-check';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import {
  atLeastOne,
  different,
  INTERVAL,
  inAnyCase,
  listOf,
  maybe,
  mostly,
  nameOf,
  phraseOf,
  pieceOf,
  sometimes,
  timeNear,
} from './generated-values.ts';

export const LIST_NAMES = [
  'namespaces',
  'namespace_query',
  'workloads',
  'workload_query',
  'pods',
  'pod_query',
  'containers',
  'container_query',
  'log_query',
] as const;

export type ListName = (typeof LIST_NAMES)[number];

/** A log query as whoever asks means it. */
export interface GeneratedQuery {
  readonly who: string;
  readonly operation?: 'query' | 'statistics' | 'histogram' | 'export';
  readonly lists: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** Seconds since 1970. */
  readonly start?: number;
  readonly end?: number;
  readonly interval?: string;
  readonly sort?: 'asc' | 'desc';
  readonly from?: number;
  readonly size?: number;
}

/** The text that is sent. */
export function parametersOf({ who: _, lists, start, end, ...more }: GeneratedQuery): Record<string, string> {
  const joined = Object.entries(lists).map(([name, elements]) => [name, elements.join(',')]);
  const others = Object.entries({ ...more, start_time: start, end_time: end }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries([...joined, ...others.map(([name, value]) => [name, String(value)])]);
}

/** What a pod is called less its last one or two parts, and the names that the cluster cut. */
const workloadsOf = (pods: readonly string[]): string[] =>
  different(
    pods.flatMap((pod) => [
      pod,
      pod.replace(/-[^-]+$/, ''),
      pod.replace(/-[^-]+-[^-]+$/, ''),
      pod.slice(0, 58),
      `${pod.slice(0, 58)}abc`,
      pod.slice(0, 50),
    ]),
  );

export interface QueryWorld {
  readonly records: readonly LogDocument[];
  readonly callers: readonly string[];
}

/** How often a list is in a query: where many hold together, nothing is found. */
const SHARES: Readonly<Record<ListName, number>> = {
  namespaces: 15,
  namespace_query: 15,
  workloads: 20,
  workload_query: 15,
  pods: 12,
  pod_query: 12,
  containers: 15,
  container_query: 15,
  log_query: 40,
};

/** The elements of each list, for a query that is about one record, or about any. */
function elementsAbout(records: readonly LogDocument[]): Record<ListName, fc.Arbitrary<string>> {
  const kubernetes = records.map((record) => record.kubernetes);
  const messages = atLeastOne(different(records.map(({ log }) => log)));
  const namespaces = different(kubernetes.map((one) => one.namespace_name));
  const pods = different(kubernetes.map((one) => one.pod_name));
  const containers = atLeastOne(different(kubernetes.map((one) => one.container_name ?? '')));
  const podPhrase = inAnyCase(fc.oneof(phraseOf(pods, /[-.]/), nameOf(pods)));
  return {
    namespaces: nameOf(namespaces),
    namespace_query: inAnyCase(pieceOf(namespaces)),
    workloads: nameOf(workloadsOf(pods)),
    workload_query: podPhrase,
    pods: nameOf(pods),
    pod_query: podPhrase,
    containers: nameOf(containers),
    container_query: inAnyCase(fc.oneof(phraseOf(containers, /[-.]/), nameOf(containers))),
    log_query: inAnyCase(
      fc.oneof({ weight: 4, arbitrary: phraseOf(messages, /[ :]+/) }, { weight: 1, arbitrary: pieceOf(messages) }),
    ),
  };
}

/** Queries about these records: of their words, names and times, and of values that mean something elsewhere. */
export function generatedQuery({ records, callers }: QueryWorld): fc.Arbitrary<GeneratedQuery> {
  const ofAny = elementsAbout(records);
  const listsAbout = (record: LogDocument) => {
    const ofOne = elementsAbout([record]);
    const element = (name: ListName) =>
      mostly(fc.oneof({ weight: 3, arbitrary: ofOne[name] }, { weight: 1, arbitrary: ofAny[name] }));
    const lists = LIST_NAMES.map((name) => fc.tuple(fc.constant(name), maybe(SHARES[name]), listOf(element(name))));
    return fc
      .tuple(...lists)
      .map((all) => Object.fromEntries(all.filter(([, isThere]) => isThere).map(([name, , list]) => [name, list])));
  };
  const time = timeNear(records.map((record) => record.time));
  return fc
    .record({
      who: fc.constantFrom(...callers),
      operation: fc.constantFrom(undefined, 'query', 'statistics', 'histogram', 'export'),
      lists: fc.constantFrom(...records).chain(listsAbout),
      times: fc.tuple(sometimes(time), sometimes(time)),
      interval: sometimes(INTERVAL),
      sort: sometimes(fc.constantFrom('asc', 'desc')),
      from: sometimes(fc.oneof(fc.nat(20), fc.nat(5_000))),
      size: sometimes(fc.oneof(fc.nat(40), fc.nat(2_000))),
    })
    .map(({ times: [a, b], ...query }) => {
      const [start, end] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b];
      const members = Object.entries({ ...query, start, end }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(members) as unknown as GeneratedQuery;
    });
}
