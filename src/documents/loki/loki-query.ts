import type { DocumentCondition } from '../document-kind.ts';
import { podNamesOf } from '../query/pod-names.ts';

/** The collector's names of the labels that say where the lines of a stream come from. */
export interface LokiLabels {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** A span of time that includes its start and excludes its end, in nanoseconds since 1970. */
export interface Span {
  readonly start: bigint;
  readonly end: bigint;
}

export const NANOSECONDS_OF_MS = 1_000_000n;

/**
 * A LogQL query for the lines of these namespaces that match the conditions; without `namespaces`, for those of every stream with a
 * namespace label. The caller's values are escaped for the regular expression and for the string around it, so they cannot be syntax.
 */
export function toLogQuery(
  conditions: readonly DocumentCondition[],
  namespaces: readonly string[] | undefined,
  labels: LokiLabels,
): string {
  const lines = conditions
    .filter(({ field }) => field === MESSAGE)
    .map(({ values }) => ` |~ ${quoted(`(?i)${values.map(literal).join('|')}`)}`);
  return `${toSelector(conditions, namespaces, labels)}${lines.join('')}`;
}

/** The field of a log that is the line itself, and not a label of its stream. */
const MESSAGE = 'message';

/** A LogQL selector for the streams that may have lines that match the conditions. It ignores those on the message. */
export function toSelector(
  conditions: readonly DocumentCondition[],
  namespaces: readonly string[] | undefined,
  labels: LokiLabels,
): string {
  const matchers = conditions.flatMap(({ field, match, values }) => {
    const label = field === 'pod' || field === 'container' ? labels[field] : undefined;
    if (label === undefined) return [];
    if (match === 'phrase') return [anyPart(label, values)];
    return [anyOf(label, values.map(match === 'workload' ? podPattern : literal))];
  });
  // Loki requires at least one matcher that fails for an empty label.
  const within = namespaces ? anyOf(labels.namespace, namespaces.map(literal)) : `${labels.namespace}=~".+"`;
  return `{${[within, ...matchers].join(',')}}`;
}

/**
 * A query that counts the lines in a span of `lengthMs`; its `time` parameter is the end of the span. Loki counts (start, end];
 * `offset 1ns` makes it [start, end).
 */
export const toCount = (logQuery: string, lengthMs: number): string => `sum(${countOf(logQuery, lengthMs)})`;

/** A query that counts the different values of these labels, over the lines of the span. */
export const toGroupCount = (logQuery: string, lengthMs: number, labels: readonly string[]): string =>
  `count(sum by (${labels.join(',')}) (${countOf(logQuery, lengthMs)}))`;

/** A query that counts the containers with lines in the span. */
export const toContainerCount = (logQuery: string, lengthMs: number, labels: LokiLabels): string =>
  toGroupCount(logQuery, lengthMs, [labels.namespace, labels.pod, labels.container]);

/**
 * A range query that counts the lines in each of several spans; each step is at the end of a span. Loki steps in whole milliseconds
 * here, so an offset of 1 ns has no effect. The offset of 1 ms counts a line in a span that begins less than a millisecond later.
 */
export const toCounts = (logQuery: string, lengthMs: number): string =>
  `sum(count_over_time(${logQuery}[${lengthMs}ms] offset 1ms))`;

const countOf = (logQuery: string, lengthMs: number): string =>
  `count_over_time(${logQuery}[${lengthMs}ms] offset 1ns)`;

/** A matcher for any of the patterns. Loki anchors the expression, so it must match the whole label. */
export const anyOf = (label: string, patterns: readonly string[]): string => `${label}=~${quoted(patterns.join('|'))}`;

/** A matcher for a part of the label, in any case. */
export const anyPart = (label: string, queries: readonly string[]): string =>
  `${label}=~${quoted(`(?i).*(?:${queries.map(literal).join('|')}).*`)}`;

/** Removes backslashes before characters beyond ASCII. Go refuses such a backslash, and the characters need none (`regexp/syntax`). */
const podPattern = (workload: string): string => podNamesOf(workload).replaceAll(/\\([^\p{ASCII}])/gu, '$1');

/** Escapes a text as Go's `regexp.QuoteMeta` does, and NUL, which Loki's parser of queries refuses. */
export const literal = (text: string): string =>
  text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&').replaceAll('\0', '\\x00');

/** A string of LogQL, in the syntax of Go strings, which has every escape of JSON but no lone surrogates. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed());
