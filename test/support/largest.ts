import { expect } from 'vitest';

/**
 * The largest case that a property test saw. A generator that makes only small cases proves little, and without this
 * nobody would notice.
 */
export class Largest {
  readonly #name: string;
  readonly #unit: string;
  #seen = 0;

  /** The printed text: the property, and the thing that is counted. */
  constructor(name: string, unit: string) {
    this.#name = name;
    this.#unit = unit;
  }

  see(size: number): void {
    this.#seen = Math.max(this.#seen, size);
  }

  /**
   * Prints it, and fails when it was smaller than `least`, which is half of the largest possible case or less. Among
   * fifty cases one is that large, except once in ten thousand million runs.
   */
  expectAtLeast(least: number): void {
    process.stdout.write(`largest case of ${this.#name}: ${this.#seen} ${this.#unit}\n`);
    expect(this.#seen, `the largest case of ${this.#name}`).toBeGreaterThanOrEqual(least);
  }
}
