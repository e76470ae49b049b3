import { type LogDocument, StoredRecord } from '../../dev/log-store/stored-record.ts';
import { hasPhrase, wordsOf } from '../../dev/log-store/words.ts';
import { bucketsOf } from './bucket-oracle.ts';
import type { GeneratedQuery, ListName } from './generated-query.ts';

/** Who asks: everything, or the namespaces of these names. */
export type Rights = 'everything' | readonly string[];

export interface OracleWorld {
  readonly records: readonly LogDocument[];
  /** The namespaces that exist, with their beginning in milliseconds since 1970. */
  readonly namespaces: Readonly<Record<string, number>>;
  /** Milliseconds since 1970. */
  now(): number;
  /** Phrases are literal parts of texts, in any case, instead of words of which the last one may go on. */
  readonly isLiteral?: true;
}

export interface ExpectedAnswer {
  readonly status: 200 | 400;
  /** What the body says; the parsed one where it is JSON. */
  readonly body?: unknown;
  /** How many records were found. */
  readonly found: number;
}

/** How many endings of a word are looked at in each index: docs/contract/logging.md, section 2. */
const MOST_ENDINGS = 1_000;

const HASH = 'bcdfghjklmnpqrstvwxz2456789';
const DIGITS = '0123456789';
const ANY = `abcdefghijklmnopqrstuvwxyz${DIGITS}`;

interface Phrase {
  readonly words: readonly string[];
  readonly endings: number;
}

/** The words of a field in the index of a day, and how many of them that begin alike are looked at. */
interface LookedAt {
  readonly field: string;
  readonly day: string;
  readonly endings: number;
}

const ALL = { field: 'log', endings: MOST_ENDINGS };

type Matches = (record: StoredRecord) => boolean;

/** What a log query is to answer by its contract, from all records in memory. It shares nothing with the code that answers. */
export class LogOracle {
  readonly #world: OracleWorld;
  readonly #newestFirst: readonly StoredRecord[];
  readonly #dictionaries = new Map<string, readonly string[]>();

  constructor(world: OracleWorld) {
    this.#world = world;
    this.#newestFirst = world.records.map((record) => new StoredRecord(record)).sort((a, b) => b.at - a.at);
  }

  /** `endings`: how many endings of the last word of a phrase are looked at in each index. */
  answer(query: GeneratedQuery, rights: Rights, endings = MOST_ENDINGS): ExpectedAnswer {
    const { operation = 'query', start = Number.NEGATIVE_INFINITY } = query;
    const aheadOfNow = Math.max(Math.floor(this.#world.now() / 1_000) + 3_600, start);
    const end = query.end ?? (operation === 'histogram' ? aheadOfNow : Number.POSITIVE_INFINITY);
    const filters = this.#filters(query, rights, endings);
    const found = this.#newestFirst.filter(
      (record) => record.at >= start * 1_000 && record.at < (end + 1) * 1_000 && filters.every((isIn) => isIn(record)),
    );
    const total = found.length;
    switch (operation) {
      case 'export':
        return { status: 200, body: found.map(lineOf).join(''), found: total };
      case 'statistics': {
        const containers = new Set(found.map((record) => record.document.kubernetes.docker_id)).size;
        return { status: 200, body: { statistics: { containers, logs: total } }, found: total };
      }
      case 'histogram': {
        const range = query.start === undefined ? undefined : ([query.start * 1_000, end * 1_000 + 999] as const);
        const histograms = bucketsOf(
          found.map(({ at }) => at),
          query.interval ?? '15m',
          range,
        );
        if (!histograms) return { status: 400, found: total };
        return { status: 200, body: { histogram: { total, histograms } }, found: total };
      }
      default: {
        const { sort = 'desc', from = 0, size = 10 } = query;
        const ordered = sort === 'desc' ? found : found.toReversed();
        const records = ordered.slice(from, from + size).map(recordOf);
        return { status: 200, body: { query: { total, records } }, found: total };
      }
    }
  }

  /** How many of the phrases have more endings in an index than are looked at. */
  cutPhrases({ lists }: GeneratedQuery): number {
    const days = [...new Set(this.#newestFirst.map(({ day }) => day))];
    const isCut = (phrase: string): boolean =>
      days.some((day) => this.#lastEnding({ ...ALL, day }, wordsOf(phrase).at(-1) ?? '\uffff') !== undefined);
    return elementsOf(lists.log_query).filter(isCut).length;
  }

  #filters({ lists }: GeneratedQuery, rights: Rights, endings: number): Matches[] {
    const named = (name: ListName): readonly string[] => elementsOf(lists[name]);
    const any = (name: ListName, matches: (record: StoredRecord, element: string) => boolean): Matches[] => {
      const elements = named(name);
      return elements.length === 0 ? [] : [(record) => elements.some((element) => matches(record, element))];
    };
    const phrase = (name: ListName, field: string): Matches[] => {
      if (this.#world.isLiteral) return any(name, (record, element) => hasLiteral(record.text(field), element));
      const phrases = named(name).map(wordsOf);
      return phrases.length === 0
        ? []
        : [(record) => phrases.some((words) => this.#hasPhrase(record, field, { words, endings }))];
    };
    const [pod, container] = ['kubernetes.pod_name', 'kubernetes.container_name'];
    return [
      this.#isReadable(named('namespaces'), named('namespace_query'), rights),
      ...any('pods', (record, name) => record.text(pod) === name),
      ...any('containers', (record, name) => record.text(container) === name),
      ...any('workloads', (record, name) => isPodOf(name, record.text(pod) ?? '')),
      ...phrase('workload_query', pod),
      ...phrase('pod_query', pod),
      ...phrase('container_query', container),
      ...phrase('log_query', 'log'),
    ];
  }

  #isReadable(names: readonly string[], parts: readonly string[], rights: Rights): Matches {
    if (rights === 'everything' && names.length === 0 && parts.length === 0) return () => true;
    const since = new Map<string, number>();
    for (const [name, createdAt] of Object.entries(this.#world.namespaces)) {
      const isNamed = names.length === 0 || names.includes(name);
      const hasPart = parts.length === 0 || parts.some((part) => name.includes(part.toLowerCase()));
      const isAllowed = rights === 'everything' || rights.includes(name);
      if (isNamed && hasPart && isAllowed)
        since.set(name, rights === 'everything' ? Number.NEGATIVE_INFINITY : createdAt);
    }
    return ({ document, at }) => at >= (since.get(document.kubernetes.namespace_name) ?? Number.POSITIVE_INFINITY);
  }

  /** The phrase is in the field, and the word that its last word begins is one of those that are looked at. */
  #hasPhrase(record: StoredRecord, field: string, { words: phrase, endings }: Phrase): boolean {
    const words = record.words(field);
    if (!hasPhrase(words, phrase)) return false;
    const limit = this.#lastEnding({ field, day: record.day, endings }, phrase.at(-1) ?? '');
    if (limit === undefined) return true;
    const isLookedAt = (word: string): boolean => bytewise(word, limit) <= 0;
    const [last, ...before] = phrase.toReversed();
    const whole = words
      .map((word, at) => ({ word, at }))
      .filter(({ word }) => isLookedAt(word) && word.startsWith(last ?? ''));
    return whole.some(({ at }) => before.every((word, index) => words[at - 1 - index] === word));
  }

  /** The last of the words with this beginning that is looked at. `undefined`: all are. */
  #lastEnding({ field, day, endings }: LookedAt, beginning: string): string | undefined {
    const words = this.#dictionary(field, day);
    let low = 0;
    for (let high = words.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (bytewise(words[middle] ?? '', beginning) < 0) low = middle + 1;
      else high = middle;
    }
    return words[low + endings]?.startsWith(beginning) ? words[low + endings - 1] : undefined;
  }

  /** The words of a field in the index of a day, in the order of an index. */
  #dictionary(field: string, day: string): readonly string[] {
    const key = `${field} ${day}`;
    const known = this.#dictionaries.get(key);
    if (known) return known;
    const words = new Set(
      this.#newestFirst.filter((record) => record.day === day).flatMap((record) => record.words(field)),
    );
    const sorted = [...words].sort(bytewise);
    this.#dictionaries.set(key, sorted);
    return sorted;
  }
}

const hasLiteral = (text: string | undefined, element: string): boolean =>
  new RegExp(element.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu').test(text ?? '');

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** An element with a comma is two. */
const elementsOf = (list: readonly string[] | undefined): readonly string[] =>
  (list ?? [])
    .join(',')
    .split(',')
    .filter((element) => element !== '');

/** docs/contract/logging.md, section 4.2. */
function isPodOf(workload: string, pod: string): boolean {
  const { length } = workload;
  const behind = pod.startsWith(`${workload}-`) ? pod.slice(length + 1) : undefined;
  if (behind !== undefined && behind !== '' && isOf(DIGITS, behind)) return true;
  if (length >= 58) return pod.startsWith(workload.slice(0, 58)) && isSuffix(pod.slice(58));
  if (behind === undefined) return false;
  if (isSuffix(behind)) return true;
  const hash = behind.slice(0, -5);
  if (length >= 47) return hash.length === 57 - length && isOf(HASH, hash) && isSuffix(behind.slice(-5));
  return (
    hash.length >= 2 &&
    hash.length <= 11 &&
    isOf(HASH, hash.slice(0, -1)) &&
    hash.endsWith('-') &&
    isSuffix(behind.slice(-5))
  );
}

const isOf = (alphabet: string, text: string): boolean => [...text].every((one) => alphabet.includes(one));
const isSuffix = (text: string): boolean => text.length === 5 && isOf(ANY, text);

function recordOf({ document }: StoredRecord): object {
  const { namespace_name: namespace, pod_name: pod, container_name: container } = document.kubernetes;
  const { log, time } = document;
  return { ...(log && { log }), time, namespace, pod, ...(container && { container }) };
}

function lineOf({ document }: StoredRecord): string {
  // The colours of the records have no other form.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour code begins with one
  const text = document.log.replaceAll(/\u001b\[[0-9;]*m/g, '');
  return text.endsWith('\n') ? text : `${text}\n`;
}
