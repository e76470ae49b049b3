import { expect } from 'vitest';

/**
 * Records the largest case of a generated test. Small cases alone prove little, and without this nobody would notice.
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
   * Prints the size, and fails if it is below `least`. A case of that size must be made on purpose, by `checkSizes` or as an example: a
   * generator guarantees no size, and fast-check prefers small ones.
   */
  expectAtLeast(least: number): void {
    process.stdout.write(`largest case of ${this.#name}: ${this.#seen} ${this.#unit}\n`);
    expect(this.#seen, `the largest case of ${this.#name}`).toBeGreaterThanOrEqual(least);
  }
}
