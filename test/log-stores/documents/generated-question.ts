import fc from 'fast-check';
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
} from '../generated-values.ts';
import type { Comparison, DocumentWords } from './document-words.ts';
import { type StoredDocument, valuesAt } from './stored-document.ts';

/** A search of events or audit records as its caller means it. */
export interface DocumentQuestion {
  readonly who: string;
  readonly operation?: 'query' | 'statistics' | 'histogram';
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Seconds since 1970. */
  readonly start?: number;
  readonly end?: number;
  readonly interval?: string;
  readonly sort?: 'asc' | 'desc';
  readonly from?: number;
  readonly size?: number;
}

/** The text that is sent. */
export function parametersOf({ who: _, lists, start, end, ...more }: DocumentQuestion): Record<string, string> {
  const joined = Object.entries(lists).map(([name, elements]) => [name, elements.join(',')]);
  const others = Object.entries({ ...more, start_time: start, end_time: end }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries([...joined, ...others.map(([name, value]) => [name, String(value)])]);
}

export interface QuestionWorld {
  readonly documents: readonly StoredDocument[];
  readonly words: DocumentWords;
  readonly callers: readonly string[];
  readonly workspaces: readonly string[];
}

/** How often a parameter is in a query: where many hold together, nothing is found. */
const SHARE = 11;

const textsAt = (documents: readonly StoredDocument[], places: string): readonly string[] => {
  const all = places.split(' ').flatMap((place) => documents.flatMap(({ source }) => valuesAt(source, place)));
  return atLeastOne(different(all.map(String)));
};

function elementFor(comparison: Comparison, texts: readonly string[]): fc.Arbitrary<string> {
  switch (comparison) {
    case 'exact':
      return nameOf(texts);
    case 'number':
      return fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...texts) }, { weight: 1, arbitrary: nameOf(texts) });
    case 'part':
      // A part of one character is refused, so most have more.
      return pieceOf(texts).filter((part) => part.length > 1 || part === texts[0]?.slice(0, 1));
    case 'phrase':
      return inAnyCase(fc.oneof(phraseOf(texts, /[ :./-]+/), nameOf(texts)));
    default:
      return comparison satisfies never;
  }
}

/** Lists of these parts: few enough for most queries to be answered. */
const partsOf = (element: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.array(element, { minLength: 1, maxLength: 8, size: 'max' }) },
    { weight: 1, arbitrary: fc.array(element, { minLength: 9, maxLength: 12, size: 'max' }) },
  );

/** The elements of each parameter, about these documents. */
function elementsAbout(documents: readonly StoredDocument[], { words, workspaces }: QuestionWorld) {
  const { conditions, scope, namespace } = words;
  const names = textsAt(documents, namespace);
  const compared = Object.entries(conditions).map(
    ([name, [comparison, places]]) => [name, elementFor(comparison, textsAt(documents, places))] as const,
  );
  return new Map<string, fc.Arbitrary<string>>([
    ...compared,
    [scope.namespaces, nameOf(names)],
    [scope.namespaceParts, inAnyCase(pieceOf(names))],
    [scope.workspaces, nameOf(workspaces)],
    [scope.workspaceParts, inAnyCase(pieceOf(workspaces))],
  ]);
}

/** Searches about these documents: of their words, names and times, and of values that mean something elsewhere. */
export function generatedQuestion(world: QuestionWorld): fc.Arbitrary<DocumentQuestion> {
  const { documents, words, callers } = world;
  const ofAny = elementsAbout(documents, world);
  const listsAbout = (document: StoredDocument) => {
    const lists = [...elementsAbout([document], world)].map(([name, ofOne]) => {
      const usual = fc.oneof({ weight: 3, arbitrary: ofOne }, { weight: 1, arbitrary: ofAny.get(name) ?? ofOne });
      const [comparison] = words.conditions[name] ?? [];
      const isNarrow = comparison === 'part' || comparison === 'number';
      const list = isNarrow
        ? partsOf(fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: mostly(usual) }))
        : listOf(mostly(usual));
      return fc.tuple(fc.constant(name), maybe(SHARE), list);
    });
    return fc
      .tuple(...lists)
      .map((all) => Object.fromEntries(all.filter(([, isThere]) => isThere).map(([name, , list]) => [name, list])));
  };
  const time = timeNear(documents.flatMap(({ source }) => valuesAt(source, words.time).map(String)));
  return fc
    .record({
      who: fc.constantFrom(...callers),
      operation: fc.constantFrom(undefined, 'query', 'statistics', 'histogram'),
      lists: fc.constantFrom(...documents).chain(listsAbout),
      times: fc.tuple(sometimes(time), sometimes(time)),
      interval: sometimes(INTERVAL),
      sort: sometimes(fc.constantFrom('asc', 'desc')),
      from: sometimes(fc.oneof(fc.nat(20), fc.nat(5_000))),
      size: sometimes(fc.oneof(fc.nat(40), fc.nat(2_000))),
    })
    .map(({ times: [a, b], ...question }) => {
      const [start, end] = a !== undefined && b !== undefined && b < a ? [b, a] : [a, b];
      const members = Object.entries({ ...question, start, end }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(members) as unknown as DocumentQuestion;
    });
}
