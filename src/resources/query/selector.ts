import { isInteger, parseInteger64, quoted } from '../../runtime/text/parameters.ts';

const LONGEST_BYTES = 4096;
const MOST_REQUIREMENTS = 64;

/** A parsed label selector: matches a set of labels (or annotations). */
export interface Selector {
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}

/** Why a text is not a selector. `message` says what was found and what was expected. */
export interface SelectorProblem {
  readonly reason: 'FieldValueInvalid' | 'FieldValueTooLong' | 'FieldValueTooMany';
  readonly message: string;
}

/**
 * Reads the selector syntax of https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/, `key>n` and `key<n`
 * included. The empty selector matches all. The time is linear in the length of the text, and a match takes time linear
 * in the number of requirements.
 */
export function parseSelector(text: string): Selector | SelectorProblem {
  if (Buffer.byteLength(text) > LONGEST_BYTES)
    return problem('FieldValueTooLong', `longer than ${LONGEST_BYTES} bytes`);
  try {
    const requirements = parseRequirements(new SelectorTokens(text));
    if (requirements.length > MOST_REQUIREMENTS) {
      return problem('FieldValueTooMany', `more than ${MOST_REQUIREMENTS} requirements`);
    }
    return { matches: all(requirements) };
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return problem('FieldValueInvalid', error.message);
    throw error;
  }
}

/** Whether the text is a selector, of any length: the cluster's own lists do not have the limits of `parseSelector`. */
export function isSelector(text: string): boolean {
  try {
    parseRequirements(new SelectorTokens(text));
    return true;
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return false;
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
  // Only here `in` and `notin` are operators: elsewhere they are keys and values like any other.
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

/**
 * `"(" [value] *("," [value]) ")"`. Nothing between two signs means the empty value. Kubernetes consumes two commas in a
 * row as one empty value, and then expects another comma or a value before the end of the list.
 */
function parseValues(tokens: SelectorTokens): ReadonlySet<string> {
  tokens.next();
  if (!tokens.take('(')) tokens.expected('"("');
  const values = new Set<string>();
  let commas = 0;
  do {
    const value = tokens.value();
    values.add(value);
    commas = value === '' ? commas + 1 : 1;
  } while (tokens.take(','));
  const isOpen = commas > 1 && commas % 2 === 1;
  if (isOpen) tokens.expected('"," or a label value');
  if (!tokens.take(')')) tokens.expected('"," or ")"');
  return values;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** One condition of a selector. */
type Requirement = (labels: Labels) => boolean;

/** A plain loop: a list of 20,000 objects calls this for each. */
function all(requirements: readonly Requirement[]): Requirement {
  const [only] = requirements;
  if (only && requirements.length === 1) return only;
  return (labels) => {
    for (const holds of requirements) if (!holds(labels)) return false;
    return true;
  };
}

/** Texts only: a key like `constructor` is a legal label key, and no inherited member is a text. This is faster than `hasOwn`. */
function read(labels: Labels, key: string): string | undefined {
  const value: unknown = labels?.[key];
  return typeof value === 'string' ? value : undefined;
}

const exists =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) !== undefined;

const isAbsent =
  (key: string): Requirement =>
  (labels) =>
    read(labels, key) === undefined;

function isIn(key: string, values: ReadonlySet<string>): Requirement {
  const [only] = values;
  if (values.size === 1) return (labels) => read(labels, key) === only;
  return (labels) => {
    const value = read(labels, key);
    return value !== undefined && values.has(value);
  };
}

/** An absent label has none of the values, so it matches. */
function isNotIn(key: string, values: ReadonlySet<string>): Requirement {
  const [only] = values;
  if (values.size === 1) return (labels) => read(labels, key) !== only;
  return (labels) => {
    const value = read(labels, key);
    return value === undefined || !values.has(value);
  };
}

/** A label that does not read as a 64-bit integer is neither greater nor smaller. */
const compares =
  (key: string, holds: (value: bigint) => boolean): Requirement =>
  (labels) => {
    const value = parseInteger64(read(labels, key) ?? '');
    return value !== undefined && holds(value);
  };

const isGreater = (key: string, bound: bigint): Requirement => compares(key, (value) => value > bound);
const isSmaller = (key: string, bound: bigint): Requirement => compares(key, (value) => value < bound);

/** Blanks, then a sign, a word or nothing. Sticky, so that the text is read once, from left to right. */
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!<>(),]+))?/y;

/** Thrown and caught within the selector parser. */
class SelectorSyntaxError extends Error {}

/** Reads a selector's signs and words, one in advance. */
class SelectorTokens {
  readonly #text: string;
  #at = 0;
  /** The next sign, or empty. */
  sign = '';
  /** The next word, or empty. At the end both are empty. */
  word = '';

  constructor(text: string) {
    this.#text = text;
    this.next();
  }

  get atEnd(): boolean {
    return this.sign === '' && this.word === '';
  }

  next(): void {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    this.#at = TOKEN.lastIndex;
    this.sign = match?.[1] ?? '';
    this.word = match?.[2] ?? '';
  }

  /** Steps over `sign` if it comes next. */
  take(sign: string): boolean {
    const comes = this.sign === sign;
    if (comes) this.next();
    return comes;
  }

  key(): string {
    if (this.word === '') this.expected('a label key');
    if (!isLabelKey(this.word)) throw new SelectorSyntaxError(`${quoted(this.word)} is not a label key`);
    return this.#takeWord();
  }

  /** Takes a value, or returns the empty value if no word comes next. */
  value(): string {
    if (!isLabelValue(this.word)) throw new SelectorSyntaxError(`${quoted(this.word)} is not a label value`);
    return this.word === '' ? '' : this.#takeWord();
  }

  expected(what: string): never {
    const found = this.atEnd ? 'the end' : quoted(this.sign || this.word);
    throw new SelectorSyntaxError(`found ${found}, expected ${what}`);
  }

  #takeWord(): string {
    const word = this.word;
    this.next();
    return word;
  }
}

/** The Kubernetes limits on labels: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ (syntax and character set). */
const LONGEST_NAME = 63;
const LONGEST_PREFIX = 253;

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

// Lengths are checked before the patterns, so that a pattern never sees more than 253 characters.
const isName = (text: string): boolean => text.length <= LONGEST_NAME && NAME.test(text);
const isPrefix = (text: string): boolean => text.length <= LONGEST_PREFIX && SUBDOMAIN.test(text);

/** `[prefix/]name`. */
function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  return slash < 0 ? isName(text) : isPrefix(text.slice(0, slash)) && isName(text.slice(slash + 1));
}

/** Empty, or like a name. */
const isLabelValue = (text: string): boolean => text === '' || isName(text);
