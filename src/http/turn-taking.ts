/** Some 1 ms of small writes, 12 µs each: then everything else that waits for the event loop has its turn. */
const WORKERS_A_TURN = 64;

interface TurnTakingParts<Worker> {
  /** Does one worker's little; it may add any worker again. It must not throw. */
  work(worker: Worker): void;
  /** Called when nobody waits any more, a turn after the last one: what that one wrote has been handed to the kernel by then. */
  rest(): void;
}

/** Lets many do a little work each in the order in which they came, without holding the event loop. */
export class TurnTaking<Worker> {
  readonly #waiting = new Set<Worker>();
  readonly #parts: TurnTakingParts<Worker>;
  #isRunning = false;

  constructor(parts: TurnTakingParts<Worker>) {
    this.#parts = parts;
  }

  /** Who waits already keeps its place. */
  add(worker: Worker): void {
    this.#waiting.add(worker);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#turn);
  }

  #turn = (): void => {
    this.#isRunning = this.#waiting.size > 0;
    if (this.#isRunning) {
      this.#workSome();
      setImmediate(this.#turn);
    } else this.#parts.rest();
  };

  #workSome(): void {
    let left = WORKERS_A_TURN;
    for (const worker of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(worker);
      this.#parts.work(worker);
    }
  }
}
