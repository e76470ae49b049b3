/** Some 3 ms of small writes: then everything else that waits for the event loop has its turn. */
const WORKERS_A_TURN = 64;

/** Lets many do a little work each in the order in which they came, without holding the event loop. */
export class TurnTaking<Worker> {
  readonly #waiting = new Set<Worker>();
  readonly #work: (worker: Worker) => void;
  #isRunning = false;

  /** `work` does one worker's little; it may add any worker again. It must not throw. */
  constructor(work: (worker: Worker) => void) {
    this.#work = work;
  }

  /** Who waits already keeps its place. */
  add(worker: Worker): void {
    this.#waiting.add(worker);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#turn);
  }

  #turn = (): void => {
    let left = WORKERS_A_TURN;
    for (const worker of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(worker);
      this.#work(worker);
    }
    this.#isRunning = this.#waiting.size > 0;
    if (this.#isRunning) setImmediate(this.#turn);
  };
}
