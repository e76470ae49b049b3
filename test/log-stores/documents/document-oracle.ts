import { hasPhrase, wordsOf } from '../../../dev/log-store/words.ts';
import { bucketsOf } from '../bucket-oracle.ts';
import type { Rights } from '../log-oracle.ts';
import type { Comparison, DocumentWords } from './document-words.ts';
import type { DocumentQuestion } from './generated-question.ts';
import { type StoredDocument, valuesAt } from './stored-document.ts';

/** A namespace that exists. */
export interface ExistingNamespace {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly workspace?: string;
}

export interface DocumentWorld {
  readonly documents: readonly StoredDocument[];
  readonly words: DocumentWords;
  readonly namespaces: Readonly<Record<string, ExistingNamespace>>;
  /** Milliseconds since 1970. */
  now(): number;
}

/** How many documents were found, and what the body of the answer says. `records` has the whole order, not the page. */
export type ExpectedDocuments =
  | { readonly status: 400 | 403; readonly found: number }
  | { readonly status: 200; readonly found: number; readonly body: object }
  | { readonly status: 200; readonly found: number; readonly page: ExpectedPage };

/** Documents without a time have no order among themselves, and come after all others. */
interface ExpectedPage {
  readonly timed: readonly object[];
  /** So many of these are on the page. */
  readonly untimed: number;
  readonly anyOf: readonly object[];
}

type Matches = (document: Searched) => boolean;

interface Searched {
  readonly index: string;
  readonly source: object;
  /** Milliseconds since 1970; `undefined` where the document has no time. */
  readonly at: number | undefined;
}

const MOST_PARTS = 8;
/** How the endings of a word are counted. */
const ALL = 1_000;

/** What a search is to answer by docs/contract/events.md, from all documents in memory. It shares nothing with the code that answers. */
export class DocumentOracle {
  readonly #world: DocumentWorld;
  readonly #searched: readonly Searched[];
  readonly #dictionaries = new Map<string, readonly string[]>();

  constructor(world: DocumentWorld) {
    this.#world = world;
    this.#searched = world.documents.map(({ index, source }) => {
      const [time] = valuesAt(source, world.words.time);
      return { index, source, at: time === undefined ? undefined : Date.parse(`${time}`) };
    });
  }

  /** `endings`: how many endings of the last word of a phrase the store looks at in each index. */
  answer(question: DocumentQuestion, rights: Rights, endings = ALL): ExpectedDocuments {
    const answer = this.#answer(question, rights, endings);
    return answer.status === 200 && this.#isForbidden(question, rights) ? { status: 403, found: 0 } : answer;
  }

  /** Who has the right nowhere, and names no namespace, is refused audit records (AU-01). */
  #isForbidden({ lists }: DocumentQuestion, rights: Rights): boolean {
    const { scope, isForbiddenWithoutRight } = this.#world.words;
    const isOpen = Object.values(scope).every((name) => elementsOf(lists[name]).length === 0);
    return isForbiddenWithoutRight && isOpen && rights !== 'everything' && rights.length === 0;
  }

  #answer(question: DocumentQuestion, rights: Rights, endings: number): ExpectedDocuments {
    const { operation = 'query', start, interval = '15m' } = question;
    const aheadOfNow = Math.max(Math.floor(this.#world.now() / 1_000) + 3_600, start ?? 0);
    const end = question.end ?? (operation === 'histogram' ? aheadOfNow : undefined);
    if (this.#isRefused(question)) return { status: 400, found: 0 };
    const filters = [
      this.#within(start, end),
      this.#readable(question, rights),
      ...this.#conditions(question, endings),
    ];
    const found = this.#searched.filter((one) => filters.every((matches) => matches(one)));
    const times = found.flatMap(({ at }) => at ?? []);
    if (operation === 'statistics') {
      const statistics = { resources: this.#resources(found), events: found.length };
      return { status: 200, found: found.length, body: { statistics } };
    }
    if (operation === 'histogram') {
      const range = start === undefined ? undefined : ([start * 1_000, (end ?? 0) * 1_000 + 999] as const);
      const buckets = bucketsOf(times, interval, range);
      if (!buckets) return { status: 400, found: found.length };
      return { status: 200, found: found.length, body: { histogram: { total: found.length, buckets } } };
    }
    return { status: 200, found: found.length, page: pageOf(found, question) };
  }

  /** By the limits of docs/contract/events.md, section 1. */
  #isRefused({ lists }: DocumentQuestion): boolean {
    return Object.entries(lists).some(([name, list]) => {
      const [comparison] = this.#world.words.conditions[name] ?? [];
      const elements = elementsOf(list);
      if (comparison === 'number') return !elements.every((one) => /^\d{1,9}$/.test(one));
      return comparison === 'part' && (elements.length > MOST_PARTS || elements.some((one) => [...one].length < 2));
    });
  }

  /** An object that has events of both forms counts for each. */
  #resources(found: readonly Searched[]): number {
    const places = this.#world.words.counted.split(' ');
    return places
      .map((place) => new Set(found.flatMap(({ source }) => valuesAt(source, place))).size)
      .reduce((sum, count) => sum + count);
  }

  #within(start: number | undefined, end: number | undefined): Matches {
    if (start === undefined && end === undefined) return () => true;
    const [from, to] = [start ?? Number.NEGATIVE_INFINITY, end ?? Number.POSITIVE_INFINITY];
    return ({ at }) => at !== undefined && at >= from * 1_000 && at < (to + 1) * 1_000;
  }

  #readable({ lists }: DocumentQuestion, rights: Rights): Matches {
    const { words, namespaces } = this.#world;
    const named = (name: string): readonly string[] => elementsOf(lists[name]);
    const [names, owners] = [named(words.scope.namespaces), named(words.scope.workspaces)];
    const [parts, ownerParts] = [named(words.scope.namespaceParts), named(words.scope.workspaceParts)];
    if (rights === 'everything' && [names, owners, parts, ownerParts].every(({ length }) => length === 0))
      return () => true;
    const isOneOf = (text: string, all: readonly string[]): boolean => all.length === 0 || all.includes(text);
    const hasPart = (text: string, some: readonly string[]): boolean =>
      some.length === 0 || some.some((part) => text.includes(part.toLowerCase()));
    const since = new Map<string | number, number>();
    for (const [name, { createdAt, workspace = '' }] of Object.entries(namespaces)) {
      if (!isOneOf(name, names) || !hasPart(name, parts)) continue;
      if (!isOneOf(workspace, owners) || !hasPart(workspace, ownerParts)) continue;
      if (rights === 'everything') since.set(name, Number.NEGATIVE_INFINITY);
      else if (rights.includes(name)) since.set(name, createdAt);
    }
    return ({ source, at = Number.NEGATIVE_INFINITY }) =>
      valuesIn(source, words.namespace).some((name) => at >= (since.get(name) ?? Number.POSITIVE_INFINITY));
  }

  #conditions({ lists }: DocumentQuestion, endings: number): Matches[] {
    return Object.entries(this.#world.words.conditions).flatMap(([name, [comparison, places]]) => {
      const elements = elementsOf(lists[name]);
      if (elements.length === 0) return [];
      return [
        (document: Searched) =>
          places.split(' ').some((place) => this.#isAny(document, place, { comparison, elements, endings })),
      ];
    });
  }

  #isAny(
    { source, index }: Searched,
    place: string,
    { comparison, elements, endings }: { comparison: Comparison; elements: readonly string[]; endings: number },
  ): boolean {
    const values = valuesAt(source, place);
    switch (comparison) {
      case 'exact':
        return values.some((value) => elements.includes(`${value}`));
      case 'number':
        return values.some((value) => elements.map(Number).includes(Number(value)));
      case 'part':
        return values.some((value) => elements.some((part) => `${value}`.includes(part)));
      case 'phrase':
        return values.some((value) => {
          const words = wordsOf(`${value}`);
          return elements.some((phrase) => this.#hasPhrase(words, wordsOf(phrase), { place, index, endings }));
        });
      default:
        return comparison satisfies never;
    }
  }

  /** The phrase is there, also when its last word may only be one of the first `endings` with this beginning in the index. */
  #hasPhrase(
    words: readonly string[],
    phrase: readonly string[],
    { place, index, endings }: { place: string; index: string; endings: number },
  ): boolean {
    if (!hasPhrase(words, phrase)) return false;
    if (endings === ALL) return true;
    const last = phrase.at(-1) ?? '';
    const looked = this.#dictionary(place, index)
      .filter((word) => word.startsWith(last))
      .slice(0, endings);
    return looked.some((word) => holds(words, [...phrase.slice(0, -1), word]));
  }

  /** The words in a place of the documents of an index, in the order of an index. */
  #dictionary(place: string, index: string): readonly string[] {
    const key = `${place} ${index}`;
    const known = this.#dictionaries.get(key);
    if (known) return known;
    const inIndex = this.#searched.filter((one) => one.index === index);
    const words = new Set(
      inIndex.flatMap(({ source }) => valuesAt(source, place).flatMap((value) => wordsOf(`${value}`))),
    );
    const sorted = [...words].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    this.#dictionaries.set(key, sorted);
    return sorted;
  }
}

const holds = (words: readonly string[], phrase: readonly string[]): boolean =>
  words.some((_, at) => phrase.every((word, offset) => words[at + offset] === word));

function pageOf(found: readonly Searched[], { sort = 'desc', from = 0, size = 10 }: DocumentQuestion): ExpectedPage {
  const sign = sort === 'desc' ? -1 : 1;
  const timed = found.filter(({ at }) => at !== undefined).sort((a, b) => sign * ((a.at ?? 0) - (b.at ?? 0)));
  const anyOf = found.filter(({ at }) => at === undefined).map(({ source }) => source);
  const page = timed.slice(from, from + size).map(({ source }) => source);
  const left = Math.max(0, found.length - Math.max(from, timed.length));
  return { timed: page, untimed: Math.min(size - page.length, left), anyOf };
}

const valuesIn = (source: object, places: string): readonly (string | number)[] =>
  places.split(' ').flatMap((place) => valuesAt(source, place));

/** An element with a comma is two. */
const elementsOf = (list: readonly string[] = []): readonly string[] =>
  list
    .join(',')
    .split(',')
    .filter((element) => element !== '');
