import type { LogFilter } from '../log-query.ts';
import { podNamesOf } from '../query/pod-names.ts';

/** The labels of a stream that say where its lines come from, as the collector names them. */
export interface LokiLabels {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** From `start` on and before `end`, in nanoseconds since 1970. */
export interface Span {
  readonly start: bigint;
  readonly end: bigint;
}

export const NANOSECONDS_OF_MS = 1_000_000n;

/**
 * The lines of these namespaces (absent: of all that have one) that the filter lets through, in LogQL. Values of callers stand in
 * it as literal parts of regular expressions, within quotation marks: they are syntax of neither.
 */
export function toLogQuery(filter: LogFilter, namespaces: readonly string[] | undefined, labels: LokiLabels): string {
  const { phrases } = filter;
  const lines = phrases.length === 0 ? '' : ` |~ ${quoted(`(?i)${phrases.map(literal).join('|')}`)}`;
  return `${toSelector(filter, namespaces, labels)}${lines}`;
}

/** Selects the streams of these lines; they also have lines without the phrases. */
export function toSelector(filter: LogFilter, namespaces: readonly string[] | undefined, labels: LokiLabels): string {
  const { workloads, workloadQueries, pods, podQueries, containers, containerQueries } = filter;
  const matchers = [
    // Loki refuses a selector unless one of its matchers fails for an absent label.
    namespaces ? anyOf(labels.namespace, namespaces.map(literal)) : [`${labels.namespace}=~".+"`],
    anyOf(labels.pod, workloads.map(podPattern)),
    anyOf(labels.pod, pods.map(literal)),
    ...[workloadQueries, podQueries].map((queries) => anyPart(labels.pod, queries)),
    anyOf(labels.container, containers.map(literal)),
    anyPart(labels.container, containerQueries),
  ].flat();
  return `{${matchers.join(',')}}`;
}

/**
 * Counts the lines in a span of that many milliseconds; the query's time is the end of the span. Loki counts (start, end];
 * `offset 1ns` makes it [start, end).
 */
export const toCount = (logQuery: string, lengthMs: number): string => `sum(${countOf(logQuery, lengthMs)})`;

/** How many containers wrote lines in it. */
export const toContainerCount = (logQuery: string, lengthMs: number, labels: LokiLabels): string =>
  `count(sum by (${labels.namespace},${labels.pod},${labels.container}) (${countOf(logQuery, lengthMs)}))`;

/**
 * Counts the lines in each of several spans; the query's times are their ends. Loki steps in whole milliseconds here, so an offset of
 * 1 ns has no effect: a line less than a millisecond before a span counts for it.
 */
export const toCounts = (logQuery: string, lengthMs: number): string =>
  `sum(count_over_time(${logQuery}[${lengthMs}ms] offset 1ms))`;

const countOf = (logQuery: string, lengthMs: number): string =>
  `count_over_time(${logQuery}[${lengthMs}ms] offset 1ns)`;

/** A label is compared with the whole of an expression. */
const anyOf = (label: string, patterns: readonly string[]): string[] =>
  patterns.length === 0 ? [] : [`${label}=~${quoted(patterns.join('|'))}`];

const anyPart = (label: string, queries: readonly string[]): string[] =>
  queries.length === 0 ? [] : [`${label}=~${quoted(`(?i).*(?:${queries.map(literal).join('|')}).*`)}`];

/** Go refuses a backslash before a character beyond ASCII, which stands for itself (`regexp/syntax`). */
const podPattern = (workload: string): string => podNamesOf(workload).replaceAll(/\\([^\p{ASCII}])/gu, '$1');

/** What Go's `regexp.QuoteMeta` makes of it. */
const literal = (text: string): string => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&');

/** A string of LogQL, which is one of Go: it knows every escape of JSON, and no half of a pair of surrogates. */
const quoted = (text: string): string => JSON.stringify(text.toWellFormed());
