import { expect } from 'vitest';

/** The largest case that a property saw: a generator that makes small ones alone proves little, and nobody sees it. */
export class Largest {
  readonly #name: string;
  readonly #unit: string;
  #seen = 0;

  /** As it is printed: the property, and what is counted. */
  constructor(name: string, unit: string) {
    this.#name = name;
    this.#unit = unit;
  }

  see(size: number): void {
    this.#seen = Math.max(this.#seen, size);
  }

  /**
   * Prints it, and fails when it was smaller. `least` is half of what may be generated, or less: of fifty cases one is that
   * large, but for once in ten thousand million runs.
   */
  expectAtLeast(least: number): void {
    process.stdout.write(`largest case of ${this.#name}: ${this.#seen} ${this.#unit}\n`);
    expect(this.#seen, `the largest case of ${this.#name}`).toBeGreaterThanOrEqual(least);
  }
}
