/** Something that happens once, and what waits for it. */
export class Moment {
  #isPast = false;
  #waiting: (() => void)[] | undefined;

  get isPast(): boolean {
    return this.#isPast;
  }

  /** Runs `run` once, when the moment comes; at once if it is past. */
  whenPast(run: () => void): void {
    if (this.#isPast) run();
    else if (this.#waiting) this.#waiting.push(run);
    else this.#waiting = [run];
  }

  /** Says that the moment is now, and runs what waits for it, in the order of `whenPast`. Later calls do nothing. */
  comes(): void {
    if (this.#isPast) return;
    this.#isPast = true;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const run of waiting) run();
  }
}
