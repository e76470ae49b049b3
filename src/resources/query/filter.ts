import { invalid, quoted, refusal } from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import { parseSelector } from './selector.ts';

/** What filters read of an object: what the cluster stores, never the annotations that an answer adds. */
export interface Shape {
  readonly name: string;
  /** `''` for a cluster-scoped kind. */
  readonly namespace: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly owners: readonly Owner[];
  /** The word that the object's kind has for the object's state. */
  readonly status: string;
  /** What the kind keeps of the object. Past shapes have it only if the kind has `isSameOwn`. */
  readonly own?: unknown;
}

export interface Owner {
  readonly uid: unknown;
  readonly kind: unknown;
}

export interface Condition {
  (object: Shape): boolean;
  /**
   * Set if the answer depends on other objects as well: the condition with the state that they have now, or when they are first
   * looked at. So one list shows one state, and a watch knows later what it chose before.
   */
  asOfNow?(): Condition;
}

/** Reads the text of a parameter into a condition on objects, or says why it cannot. */
export type FilterReader = (text: string, name: string) => Condition | StatusCause;

/** Readers of filters, keyed by the name of the parameter. */
export type FilterReaders = ReadonlyMap<string, FilterReader>;

/** The filters that every kind has. */
export const commonFilters = (platform: string): FilterReaders =>
  new Map<string, FilterReader>([
    ['labelSelector', readSelector(({ labels }) => labels)],
    ['label', readSelector(({ labels }) => labels)],
    ['annotation', readSelector(({ annotations }) => annotations)],
    ['name', (text) => (object) => object.name.includes(text)],
    ['names', (text) => isAmong(new Set(text.split(',')))],
    ['alias', (text) => hasAlias(text, `${platform}.io/alias-name`)],
    ['uid', (text) => (object) => object.uid === text],
    ['namespace', (text) => (object) => text === '' || object.namespace === text],
    ['ownerReference', (text) => (object) => object.owners.some(({ uid }) => uid === text)],
    ['ownerKind', (text) => (object) => object.owners.some(({ kind }) => kind === text)],
  ]);

/** A filter on the status word. Refuses any text but these words. */
export const statusFilter = (words: readonly string[]): FilterReader => oneOf(words, ({ status }) => status);

/** A filter on a text that `read` finds in an object. Refuses any text but these words. */
export const oneOf =
  (words: readonly string[], read: (object: Shape) => string | undefined): FilterReader =>
  (text, name) =>
    words.includes(text) ? (object) => read(object) === text : notOneOf(name, text, words);

/** Says that a filter of KubeSphere 3.4 is not offered. */
export const notOffered: FilterReader = (_, name) =>
  refusal('FieldValueForbidden', `query parameter "${name}" is not offered`, name);

/** All conditions as one, as of now. */
export function allOf(conditions: readonly Condition[]): (object: Shape) => boolean {
  const present = conditions.map((condition) => condition.asOfNow?.() ?? condition);
  const [only] = present;
  if (only && present.length === 1) return only;
  return (object) => {
    for (const holds of present) if (!holds(object)) return false;
    return true;
  };
}

/** Whether the same object may fulfil one of them today and not tomorrow, without a change of the object. */
export const dependOnOthers = (conditions: readonly Condition[]): boolean =>
  conditions.some(({ asOfNow }) => asOfNow !== undefined);

export const notOneOf = (name: string, text: string, words: readonly string[]): StatusCause =>
  invalid(name, `${quoted(text)} is not one of ${words.join(', ')}`, 'FieldValueNotSupported');

const readSelector =
  (textsOf: (object: Shape) => Shape['labels']): FilterReader =>
  (text, name) => {
    const selector = parseSelector(text);
    if (!('matches' in selector)) return invalid(name, selector.message, selector.reason);
    return (object) => selector.matches(textsOf(object));
  };

const isAmong =
  (names: ReadonlySet<string>): Condition =>
  ({ name }) =>
    names.has(name);

/** An empty text matches every object with a stored annotation, even without an alias. KubeSphere 3.4 does so, too. */
const hasAlias =
  (alias: string, key: string): Condition =>
  ({ annotations }) => {
    if (annotations === undefined || Object.keys(annotations).length === 0) return false;
    return (Object.hasOwn(annotations, key) ? (annotations[key] ?? '') : '').includes(alias);
  };
