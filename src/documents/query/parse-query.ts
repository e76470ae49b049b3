import {
  invalid,
  type ParameterReader,
  type ParameterReaders,
  quoted,
  readParameters,
} from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import type { DocumentCondition, DocumentKind, Match, Operation, ScopeList } from '../document-kind.ts';
import type { DocumentQuery, Page } from '../document-query.ts';
import { bucketsIn, DEFAULT_INTERVAL, type Interval, MOST_BUCKETS, parseInterval } from './interval.ts';
import { parseSeconds } from './times.ts';

const MOST_ELEMENTS = 64;
/** Kubernetes names have at most 253 bytes. */
const LONGEST_ELEMENT_BYTES = 256;
/** The default of the stores' `index.max_result_window`. */
const WINDOW = 10_000;
/** A histogram without an end ends this far ahead of now, so that one record with a wrong time does not make a million buckets. */
const AHEAD_SECONDS = 3_600;

/**
 * To find a part of a text, a store looks at every text of the field: so there are few parts, and none of one character, which most texts
 * have.
 */
const MOST_PARTS = 8;
const SHORTEST_PART = 2;

/** What the parameters set, with the defaults of those that are absent. */
interface Draft {
  operation: Operation;
  readonly scope: Record<ScopeList, readonly string[]>;
  readonly conditions: DocumentCondition[];
  readonly time: { start?: number; end?: number };
  interval: Interval;
  readonly page: { -readonly [Name in keyof Page]: Page[Name] };
}

const newDraft = (): Draft => ({
  operation: 'query',
  scope: { namespaces: [], namespaceParts: [], workspaces: [], workspaceParts: [] },
  conditions: [],
  time: {},
  interval: DEFAULT_INTERVAL,
  page: { order: 'desc', from: 0, size: 10 },
});

/** What one parameter sets. */
type Setting = (draft: Draft) => void;

/** Parses the text after the `?` of a query for one kind of documents. */
export class QueryParser {
  readonly #readers: ParameterReaders<Setting>;

  constructor(kind: DocumentKind) {
    this.#readers = readersFor(kind);
  }

  /**
   * `now` is in milliseconds since 1970. Throws one 400 that names every bad parameter in query order. Whether parameters contradict each
   * other is checked only for those that are valid by themselves.
   */
  parse(queryString: string, now: number): DocumentQuery {
    const settings = readParameters(queryString, this.#readers, (read, areGood) =>
      contradictions(toQuery(read, now), areGood),
    );
    return toQuery(settings, now);
  }
}

function toQuery(settings: readonly Setting[], now: number): DocumentQuery {
  const draft = newDraft();
  for (const set of settings) set(draft);
  const { operation, time } = draft;
  if (operation === 'histogram') time.end ??= Math.max(Math.floor(now / 1_000) + AHEAD_SECONDS, time.start ?? 0);
  return draft;
}

/** Finds parameters that are valid by themselves but not together. */
function contradictions(
  { operation, time, interval, page }: DocumentQuery,
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

/** The elements of a list. Elements are separated by commas, and empty ones are skipped. */
function elementsOf(text: string, name: string, most = MOST_ELEMENTS): readonly string[] | StatusCause {
  const elements = text.split(',').filter((element) => element !== '');
  if (elements.length > most) return invalid(name, `it has more than ${most} elements`);
  if (elements.some((element) => Buffer.byteLength(element) > LONGEST_ELEMENT_BYTES))
    return invalid(name, `an element is longer than ${LONGEST_ELEMENT_BYTES} bytes`);
  return elements;
}

const scope =
  (member: ScopeList): ParameterReader<Setting> =>
  (text, name) => {
    const elements = elementsOf(text, name);
    if ('reason' in elements) return elements;
    const arePartial = member === 'namespaceParts' || member === 'workspaceParts';
    return ({ scope }) => {
      scope[member] = arePartial ? elements.map((element) => element.toLowerCase()) : elements;
    };
  };

const condition =
  (field: string, match: Match): ParameterReader<Setting> =>
  (text, name) => {
    const values = elementsOf(text, name, match === 'part' ? MOST_PARTS : MOST_ELEMENTS);
    if ('reason' in values) return values;
    const fault = faultOf(values, match);
    if (fault !== undefined) return invalid(name, fault);
    return ({ conditions }) => {
      if (values.length > 0) conditions.push({ field, match, values });
    };
  };

function faultOf(values: readonly string[], match: Match): string | undefined {
  const odd = match === 'number' ? values.find((value) => !/^[0-9]{1,9}$/.test(value)) : undefined;
  if (odd !== undefined) return `${quoted(odd)} is not a whole number`;
  if (match === 'part' && values.some((value) => [...value].length < SHORTEST_PART))
    return `a part has at least ${SHORTEST_PART} characters`;
  return undefined;
}

function readersFor({ operations, scope: scopes, conditions, ignored }: DocumentKind): ParameterReaders<Setting> {
  const all: readonly (readonly [string, ParameterReader<Setting>])[] = [
    ['operation', oneOf(operations, (draft, operation) => Object.assign(draft, { operation }))],
    ...Object.entries(scopes).map(([name, member]) => [name, scope(member)] as const),
    ...Object.entries(conditions).map(([name, { field, match }]) => [name, condition(field, match)] as const),
    ['start_time', time('start')],
    ['end_time', time('end')],
    ['interval', interval],
    ['sort', oneOf(['asc', 'desc'], ({ page }, order) => Object.assign(page, { order }))],
    ['from', count('from')],
    ['size', count('size')],
    ...ignored.map((name) => [name, () => () => {}] as const),
  ];
  return new Map(all.map(([name, read]) => [name, unlessEmpty(read)]));
}
