import { isLabelKey, isLabelValue } from './label-syntax.ts';
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
