import { asObject } from '../../runtime/text/json-value.ts';
import type { DocumentCondition } from '../document-kind.ts';
import { EVENTS } from '../kinds/event-kind.ts';
import { isTooManySeries, type LokiKind, type LokiQuestions } from './loki-kind.ts';
import { anyOf, anyPart, literal, quoted, toGroupCount } from './loki-query.ts';
import { lengthMs, type Slice } from './loki-slice.ts';

/** The fields that are labels of a stream. All other fields are in the line, which is the event as JSON. */
const LABELS: ReadonlySet<string> = new Set(['namespace', 'kind', 'type']);

/**
 * Events: the line is the event as JSON in either form, and its stream has the labels `namespace` (of the object; absent for objects
 * without one), `kind` and `type` (docs/contract/events.md, E-06).
 */
export const LOKI_EVENTS: LokiKind = {
  namespaceLabel: 'namespace',
  toLogQuery: (conditions, namespaces) => toEventQuery(conditions, namespaces),
  countIds: (slice, questions) => countObjects(slice, questions, ''),
  recordOf: ({ line }) => parsed(line) ?? { message: line },
};

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return asObject(value) === value ? (value as object) : undefined;
  } catch {
    return undefined;
  }
}

/** A filter on members of the line, of which one must match. */
interface LineFilter {
  /** Places such as `involvedObject.name`. */
  readonly places: readonly string[];
  /** Must match the whole text. */
  readonly pattern: string;
}

function toEventQuery(
  conditions: readonly DocumentCondition[],
  namespaces: readonly string[] | undefined,
  more: readonly LineFilter[] = [],
): string {
  const inStream = conditions.filter(({ field }) => LABELS.has(field));
  const matchers = inStream.map(({ field, match, values }) =>
    match === 'phrase' ? anyPart(field, values) : anyOf(field, values.map(literal)),
  );
  const within = namespaces ? [anyOf('namespace', namespaces.map(literal))] : [];
  // Every event has these two labels. No other stream may have both, or its lines would count as events (docs/events.md).
  const selector = `{${['kind=~".+"', 'type=~".+"', ...within, ...matchers].join(',')}}`;
  const inLine = conditions.filter(({ field }) => !LABELS.has(field)).map(toLineFilter);
  return `${selector}${[...inLine, ...more].map(toPipeline).join('')}`;
}

function toLineFilter({ field, match, values }: DocumentCondition): LineFilter {
  const any = values.map(literal).join('|');
  const places = EVENTS.fields[field as keyof typeof EVENTS.fields];
  if (match === 'exact') return { places, pattern: any };
  return { places, pattern: `${match === 'phrase' ? '(?is)' : '(?s)'}.*(?:${any}).*` };
}

/**
 * Reads the members, keeps the lines of which one matches, and removes the members again, so that they do not make streams. Lines that are
 * no JSON are left out.
 */
function toPipeline({ places, pattern }: LineFilter): string {
  const { names, reads } = membersAs('found', places);
  // Unlike the matchers of a selector, these filters find a part of the text unless they say otherwise.
  const whole = quoted(`^(?:${pattern})$`);
  const matches = names.map((name) => `${name}=~${whole}`).join(' or ');
  return `${reads} | __error__="" | ${matches} | drop ${names.join(', ')}`;
}

/** Reads members of the line into labels of these names. */
function membersAs(prefix: string, places: readonly string[]): { readonly names: string[]; readonly reads: string } {
  const named = places.map((place, at) => ({ name: `${prefix}_${at}`, place }));
  const reads = named.map(({ name, place }) => `${name}=${quoted(place)}`).join(', ');
  return { names: named.map(({ name }) => name), reads: ` | json ${reads}` };
}

/** The characters of a uid, which is evenly spread over them. */
const DIGITS = '0123456789abcdef';
/** With two digits, 128,000 objects are counted. */
const MOST_DIGITS = 2;

/**
 * Counts the objects whose uid begins with `prefix`. If there are more than Loki counts in one query, they are counted by the next digit of
 * their uids. An object with events of both forms counts twice, as in the other stores.
 */
async function countObjects(slice: Slice, questions: LokiQuestions, prefix: string): Promise<number> {
  try {
    return await countIn(slice, questions, prefix === '' ? '.+' : `${prefix}.*`);
  } catch (error) {
    if (!isTooManySeries(error) || prefix.length === MOST_DIGITS) throw error;
  }
  const counts = await Promise.all([
    ...Array.from(DIGITS, (digit) => countObjects(slice, questions, prefix + digit)),
    countIn(slice, questions, prefix === '' ? `[^${DIGITS}].*` : `${prefix}(?:[^${DIGITS}].*)?`),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

function countIn(slice: Slice, questions: LokiQuestions, pattern: string): Promise<number> {
  const places = EVENTS.counted;
  const query = toEventQuery(slice.conditions, slice.namespaces, [{ places, pattern }]);
  const { names, reads } = membersAs('uid', places);
  return questions.number(slice, toGroupCount(query + reads, lengthMs(slice), names));
}
