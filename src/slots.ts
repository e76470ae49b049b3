/** At most `count` holders at a time; the others wait in the order in which they came. */
export class Slots {
  readonly #waiting = new Set<(taken: boolean) => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  get free(): number {
    return this.#free;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves to true with a slot, or to false when the signal aborted first or all were turned away. */
  take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (taken: boolean): void => {
        this.#waiting.delete(settle);
        signal.removeEventListener('abort', gaveUp);
        resolve(taken);
      };
      const gaveUp = (): void => settle(false);
      this.#waiting.add(settle);
      signal.addEventListener('abort', gaveUp, { once: true });
    });
  }

  /** Hands the slot to the one that has waited longest. */
  release(): void {
    const [settle] = this.#waiting;
    if (settle) settle(true);
    else this.#free++;
  }

  /** Nobody waits any longer. */
  turnAway(): void {
    for (const settle of this.#waiting) settle(false);
  }
}
