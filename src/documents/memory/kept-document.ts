import { asObject } from '../../runtime/text/json-value.ts';
import type { DocumentCondition, DocumentKind } from '../document-kind.ts';
import type { DocumentSearch } from '../store/document-store.ts';

/** What of a document in memory a search looks at. */
export interface KeptDocument {
  /** Its place in the order of time, in milliseconds since 1970. */
  readonly at: number;
  /** What `statistics` counts; `''` is not counted, as in the stores. */
  readonly id: string;
  /** The texts of its fields (`DocumentKind.fields`); a field that is empty is absent. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Reads the fields of a document. Of several places of a field, the first one that is not empty counts. */
export const textsOf = (source: unknown, { fields }: Pick<DocumentKind, 'fields'>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, places]) => firstText(source, places, name)));

/** The first text that is not empty in these places. */
const firstText = (source: unknown, places: readonly string[], name: string): [string, string][] => {
  const text = places.map((place) => textAt(source, place)).find((one) => one !== '');
  return text === undefined ? [] : [[name, text]];
};

/** The text in a place such as `involvedObject.name`; `''` if there is none. */
export function textAt(source: unknown, place: string): string {
  const value = place.split('.').reduce<unknown>((inner, member) => asObject(inner)[member], source);
  return typeof value === 'string' ? value : '';
}

/** Whether a search finds the document. */
export function isFound(
  { at, texts }: KeptDocument,
  { kind, search }: { kind: DocumentKind; search: DocumentSearch },
): boolean {
  const { conditions, time, namespaces } = search;
  const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = time;
  if (at < start * 1_000 || at >= (end + 1) * 1_000) return false;
  const namespace = texts[kind.namespace] ?? '';
  const isReadable =
    !namespaces ||
    namespaces.whole.includes(namespace) ||
    namespaces.young.some(({ name, since }) => name === namespace && at >= since);
  return isReadable && conditions.every((condition) => matches(texts[condition.field] ?? '', condition));
}

function matches(text: string, { match, values }: DocumentCondition): boolean {
  switch (match) {
    case 'exact':
    case 'number':
      return values.includes(text);
    case 'part':
      return values.some((part) => text.includes(part));
    case 'phrase':
      return values.some((phrase) => hasPhrase(text, phrase));
    case 'workload':
      return false; // only logs have pods of workloads, and they are never in memory
    default:
      return match satisfies never;
  }
}

/** Whether the words of the phrase follow each other in the text, where the last one may go on, as in the stores. */
function hasPhrase(text: string, phrase: string): boolean {
  const wanted = wordsOf(phrase);
  const last = wanted.pop();
  if (last === undefined) return false; // without a word, a store finds nothing
  const words = wordsOf(text);
  return words.some(
    (_, at) =>
      wanted.every((word, offset) => words[at + offset] === word) && words[at + wanted.length]?.startsWith(last),
  );
}

/** The words of a text, nearly as the standard analyzer of the stores splits it (Unicode, UAX 29). */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:[.'][\p{L}\p{N}_]+)*/gu) ?? [];
