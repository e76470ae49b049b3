import { isInteger, parseInteger64 } from './integer64.ts';
import { quoted } from './quoted.ts';
import { SelectorSyntaxError, SelectorTokens } from './selector-tokens.ts';

const LONGEST_BYTES = 4096;
const MOST_REQUIREMENTS = 64;

/** A parsed label selector: matches a set of labels (or annotations). */
export interface Selector {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}

/** Why a text is no selector. `message` says what was found and expected. */
export interface SelectorProblem {
  readonly reason: 'FieldValueInvalid' | 'FieldValueTooLong' | 'FieldValueTooMany';
  readonly message: string;
}

/**
 * Reads the selector syntax of https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/, `key>n` and `key<n`
 * included. The empty selector matches all. Linear in the length of the text; matching is linear in the requirements.
 */
export function parseSelector(text: string): Selector | SelectorProblem {
  if (Buffer.byteLength(text) > LONGEST_BYTES)
    return problem('FieldValueTooLong', `longer than ${LONGEST_BYTES} bytes`);
  try {
    const requirements = parseRequirements(new SelectorTokens(text));
    if (requirements.length > MOST_REQUIREMENTS) {
      return problem('FieldValueTooMany', `more than ${MOST_REQUIREMENTS} requirements`);
    }
    return { matches: (labels) => requirements.every((requirement) => requirement(labels)) };
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return problem('FieldValueInvalid', error.message);
    throw error;
  }
}

const problem = (reason: SelectorProblem['reason'], message: string): SelectorProblem => ({ reason, message });

/** `requirement *("," requirement)`, or nothing. */
function parseRequirements(tokens: SelectorTokens): readonly Requirement[] {
  const requirements: Requirement[] = [];
  if (tokens.atEnd) return requirements;
  do requirements.push(parseRequirement(tokens));
  while (tokens.take(','));
  if (!tokens.atEnd) tokens.expected('"," or the end');
  return requirements;
}

function parseRequirement(tokens: SelectorTokens): Requirement {
  if (tokens.take('!')) return isAbsent(tokens.key());
  const key = tokens.key();
  if (tokens.atEnd || tokens.sign === ',') return exists(key);
  if (tokens.take('=') || tokens.take('==')) return isIn(key, new Set([tokens.value()]));
  if (tokens.take('!=')) return isNotIn(key, new Set([tokens.value()]));
  if (tokens.take('>')) return isGreater(key, parseBound(tokens));
  if (tokens.take('<')) return isSmaller(key, parseBound(tokens));
  // `in` and `notin` are words here only: elsewhere they are keys and values like any other.
  if (tokens.word === 'in') return isIn(key, parseValues(tokens));
  if (tokens.word === 'notin') return isNotIn(key, parseValues(tokens));
  return tokens.expected('"=", "==", "!=", "<", ">", "in", "notin", "," or the end');
}

function parseBound(tokens: SelectorTokens): bigint {
  const text = tokens.value();
  const bound = parseInteger64(text);
  if (bound !== undefined) return bound;
  throw new SelectorSyntaxError(`${quoted(text)} is not ${isInteger(text) ? 'a 64-bit' : 'an'} integer`);
}

/** `"(" [value] *("," [value]) ")"`: nothing between two signs is the empty value. */
function parseValues(tokens: SelectorTokens): ReadonlySet<string> {
  tokens.next();
  if (!tokens.take('(')) tokens.expected('"("');
  const values = new Set<string>();
  do values.add(tokens.value());
  while (tokens.take(','));
  if (!tokens.take(')')) tokens.expected('"," or ")"');
  return values;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** One condition of a selector. */
type Requirement = (labels: Labels) => boolean;

/** Own members only: a key like `constructor` is a legal label key. */
const read = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

const exists =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) !== undefined;

const isAbsent =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) === undefined;

const isIn =
  (key: string, values: ReadonlySet<string>): Requirement =>
  (labels) => {
    const value = read(labels, key);
    return value !== undefined && values.has(value);
  };

/** An absent label is in no set, so it matches. */
const isNotIn =
  (key: string, values: ReadonlySet<string>): Requirement =>
  (labels) => {
    const value = read(labels, key);
    return value === undefined || !values.has(value);
  };

/** A label that does not read as a 64-bit integer is neither greater nor smaller. */
const compares =
  (key: string, holds: (value: bigint) => boolean): Requirement =>
  (labels) => {
    const value = parseInteger64(read(labels, key) ?? '');
    return value !== undefined && holds(value);
  };

const isGreater = (key: string, bound: bigint): Requirement => compares(key, (value) => value > bound);
const isSmaller = (key: string, bound: bigint): Requirement => compares(key, (value) => value < bound);
