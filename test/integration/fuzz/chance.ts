import type { Random } from '../../../src/runtime/random.ts';

/** Choices of a generator; the same seed makes the same ones. */
export class Chance {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** True so often out of a hundred times. */
  percent(share: number): boolean {
    return this.#random.fraction() * 100 < share;
  }

  /** From `least` to `most`, both included. */
  count(least: number, most: number): number {
    return least + Math.floor(this.#random.fraction() * (most - least + 1));
  }

  one<T>(list: readonly T[]): T {
    return list[this.count(0, list.length - 1)] as T;
  }

  /** What one of these makes. */
  made<T>(...makers: readonly (() => T)[]): T {
    return this.one(makers)();
  }

  /** Up to so many of them, in any order, some twice. */
  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.count(0, most) }, make);
  }

  /** Any bytes, one character each. */
  bytes(most: number): string {
    return this.#random.bytes(this.count(0, most)).toString('latin1');
  }

  /** Letters and digits. */
  word(most = 12): string {
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
    return Array.from({ length: this.count(1, most) }, () => this.one([...letters])).join('');
  }

  /** The text with one character changed, put in, taken out or doubled. */
  damaged(text: string): string {
    const at = this.count(0, text.length);
    const [before, after] = [text.slice(0, at), text.slice(at)];
    const odd = () => this.one(ODD_CHARACTERS);
    return this.made(
      () => before + odd() + after,
      () => before + odd() + after.slice(1),
      () => before + after.slice(1),
      () => before + after.slice(0, 1) + after,
      () => text.slice(0, at),
    );
  }
}

/** One byte each, in Latin-1: what parsers trip over. */
const ODD_CHARACTERS = [
  ...['\0', '\t', '\n', '\r', '\r\n', ' ', '"', '%', '&', '+', ',', '/', ':', ';', '=', '\\', '\x7f', 'é'],
  ...['ÿ'],
];
