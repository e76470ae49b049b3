/** Callers that wait until a condition holds. Each condition is checked again whenever it may have changed. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves as soon as the condition holds; rejects with `fault` when the signal aborts before. */
  until(condition: () => boolean, signal: AbortSignal, fault: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!signal.aborted && !condition()) return;
        this.#waiting.delete(check);
        signal.removeEventListener('abort', check);
        if (signal.aborted) reject(new Error(fault()));
        else resolve();
      };
      this.#waiting.add(check);
      signal.addEventListener('abort', check);
      check();
    });
  }

  lookAgain(): void {
    for (const check of [...this.#waiting]) check();
  }
}
