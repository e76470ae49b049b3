const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** How long to wait before the next try: twice as long after each failure, up to half a minute, and a random part of it, so that pages do not all come back at once. */
export class BackOff {
  #failures = 0;

  succeeded(): void {
    this.#failures = 0;
  }

  /** The wait after one more failure. The server's own wish is the least. */
  failed(retryAfterSeconds = 0): number {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures++);
    return Math.max(retryAfterSeconds * 1_000, longest / 2 + (Math.random() * longest) / 2);
  }
}
