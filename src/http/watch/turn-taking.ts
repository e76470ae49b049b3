import type { Clock } from '../../runtime/clock.ts';

/**
 * Then everything else that waits for the event loop has its turn. Most work is a small write of 12 µs; that of a watcher with a selector
 * of its own may be a look at 15,000 nodes, which takes 5 ms.
 */
const TURN_MS = 8;
/**
 * What is written goes to the kernel when the turn is over, which no clock sees within it: by time alone, a turn of 8 ms had 50 ms of
 * writes behind it.
 */
const MOST_IN_A_TURN = 64;

interface TurnTakingParts<Worker> {
  readonly clock: Pick<Clock, 'monotonic'>;
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
    const { clock, work } = this.#parts;
    const endsAt = clock.monotonic() + TURN_MS;
    // A worker that is added again meanwhile waits for the next turn.
    let left = Math.min(this.#waiting.size, MOST_IN_A_TURN);
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker);
      work(worker);
      if (--left === 0 || clock.monotonic() >= endsAt) break;
    }
  }
}
