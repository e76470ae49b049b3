import type { StoredRecord } from './stored-record.ts';
import { hasPhrase, wordsOf } from './words.ts';

/** The store does not support this clause, or this form of it. */
export class QueryError extends Error {
  readonly type: string;

  constructor(type: string, reason: string) {
    super(reason);
    this.type = type;
  }
}

export type Matches = (record: StoredRecord<object>) => boolean;

type Json = Readonly<Record<string, unknown>>;

/** Reads a query of the search API, as far as Gatehouse sends it. Throws a `QueryError` for anything else. */
export function readQuery(clause: unknown): Matches {
  const [[type, body] = [], ...more] = Object.entries((clause ?? {}) as Json);
  const read = type === undefined ? undefined : CLAUSES[type];
  if (!read || more.length > 0) throw new QueryError('parsing_exception', `unknown query [${type}]`);
  return read(body as Json);
}

const CLAUSES: Readonly<Record<string, (body: Json) => Matches>> = {
  bool: readBool,
  term(body) {
    const [[field, value] = ['', undefined]] = Object.entries(body);
    const name = exact(field);
    return (record) => record.texts(name).some((text) => text === value);
  },
  terms(body) {
    const [[field, values] = ['', []]] = Object.entries(body);
    const [name, wanted] = [exactFor(values, field), new Set((values as unknown[]).map(String))];
    return (record) => record.texts(name).some((text) => wanted.has(text));
  },
  wildcard(body) {
    const [[field, { value }]] = Object.entries(body) as [[string, { value: string }]];
    const [, literal] = /^\*((?:[^*?\\]|\\.)+)\*$/s.exec(value) ?? [];
    if (literal === undefined) throw new QueryError('parsing_exception', 'unknown wildcard');
    const [name, part] = [exact(field), literal.replaceAll(/\\(.)/gs, '$1')];
    return (record) => record.texts(name).some((text) => text.includes(part));
  },
  range: readRange,
  regexp(body) {
    const [[field, { value }]] = Object.entries(body) as [[string, { value: string }]];
    const whole = new RegExp(`^(?:${value})$`);
    return (record) => whole.test(record.text(exact(field)) ?? '');
  },
  match_phrase_prefix(body) {
    const [[field, { query }]] = Object.entries(body) as [[string, { query: string }]];
    const phrase = wordsOf(query);
    return (record) => hasPhrase(record.words(field), phrase);
  },
};

function readBool({ filter = [], should = [], must_not: mustNot = [], ...others }: Json): Matches {
  const { minimum_should_match: least = 0, ...more } = others;
  if (Object.keys(more).length > 0) throw new QueryError('parsing_exception', `[bool] knows no ${Object.keys(more)}`);
  const all = (filter as unknown[]).map(readQuery);
  const some = (should as unknown[]).map(readQuery);
  const none = (mustNot as unknown[]).map(readQuery);
  return (record) =>
    all.every((matches) => matches(record)) &&
    !none.some((matches) => matches(record)) &&
    countUpTo(Number(least), some, record) >= Number(least);
}

/** The number of clauses that match, counted up to `most`. */
function countUpTo(most: number, clauses: readonly Matches[], record: StoredRecord<object>): number {
  let count = 0;
  for (const matches of clauses) if (count < most && matches(record)) count++;
  return count;
}

function readRange(body: Json): Matches {
  const [[field, { gte, lt, ...more }]] = Object.entries(body) as [[string, Json]];
  if (Object.keys(more).length > 0) throw new QueryError('parsing_exception', 'unknown range');
  const [from, to] = [instant(gte) ?? Number.NEGATIVE_INFINITY, instant(lt) ?? Number.POSITIVE_INFINITY];
  return ({ at, form }) => {
    if (form.time !== field) throw new QueryError('parsing_exception', `[${field}] is no time here`);
    return at >= from && at < to;
  };
}

function instant(time: unknown): number | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(String(time));
  if (Number.isNaN(ms)) throw new QueryError('parse_exception', `failed to parse date field [${time}]`);
  return ms;
}

/** Only the subfield `.keyword` has the exact text. The field itself is split into words. */
function exact(field: string): string {
  if (!field.endsWith('.keyword')) throw new QueryError('illegal_argument_exception', `[${field}] has words, no text`);
  return field.slice(0, -'.keyword'.length);
}

/** Numbers have no subfield. */
const exactFor = (values: unknown, field: string): string =>
  (values as unknown[]).every((value) => typeof value === 'number') ? field : exact(field);
