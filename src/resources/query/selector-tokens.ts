import { quoted } from './quoted.ts';

/** Blank, then a sign, a word or nothing. Sticky, so that the whole text is read once from left to right. */
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!<>(),])|([^ \t\r\n=!<>(),]+))?/y;

/** Thrown and caught within the selector parser. */
export class SelectorSyntaxError extends Error {}

/** A selector's signs and words, one ahead. */
export class SelectorTokens {
  readonly #text: string;
  #at = 0;
  /** The next sign, or empty. */
  sign = '';
  /** The next word, or empty. Both empty: the end. */
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

  /** Nothing where a value may stand is the empty value. */
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
