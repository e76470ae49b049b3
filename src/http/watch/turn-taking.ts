import type { Clock } from '../../runtime/clock.ts';

/**
 * After this time everything else that waits for the event loop has its turn. Most work is a small write of 12 µs. A
 * watcher with a selector of its own may have to look at 15,000 nodes, which takes 5 ms.
 */
const TURN_MS = 8;
/**
 * Writes go to the kernel when the turn is over, so no clock sees them within the turn. With a limit on time alone, a
 * turn of 8 ms was followed by 50 ms of writes.
 */
const MOST_IN_A_TURN = 64;

/**
 * After this many pieces of work comes a turn of the event loop without any; a turn of 8 ms is followed by 16. For libuv accepts
 * one connection in a turn of the loop: if each had work of ours in it, a thousand watchers that begin at once would be let
 * in one by one, 10 ms or more apart, and behind them everybody else, the kubelet's probes included. An empty turn of the loop
 * takes some 10 µs.
 */
const PIECES_A_PAUSE = 4;
const MOST_PAUSES = MOST_IN_A_TURN / PIECES_A_PAUSE;
/** If requests make these turns long, they go first: three quarters of the time are theirs, and a quarter is ours. */
const THEIR_SHARE = 3;

interface TurnTakingParts<Worker> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Does a small piece of one worker's work. It may add any worker again, and must not throw. */
  work(worker: Worker): void;
  /** Called when no worker waits any more, a turn after the last one: by then the kernel has what that one wrote. */
  rest(): void;
}

/** Lets many workers do a little work each, in the order in which they came, without holding the event loop. */
export class TurnTaking<Worker> {
  readonly #waiting = new Set<Worker>();
  readonly #parts: TurnTakingParts<Worker>;
  #isRunning = false;
  /** How many turns of the event loop may still pass before our next turn, and the latest time for it. */
  #pauses = 0;
  #pausesEndAt = 0;

  constructor(parts: TurnTakingParts<Worker>) {
    this.#parts = parts;
  }

  /** A worker that waits already keeps its place. */
  add(worker: Worker): void {
    this.#waiting.add(worker);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#turn);
  }

  #turn = (): void => {
    if (this.#pauses > 0 && this.#parts.clock.monotonic() < this.#pausesEndAt) {
      this.#pauses--;
      setImmediate(this.#turn);
      return;
    }
    this.#isRunning = this.#waiting.size > 0;
    if (this.#isRunning) {
      this.#workSome();
      setImmediate(this.#turn);
    } else this.#parts.rest();
  };

  #workSome(): void {
    const { clock, work } = this.#parts;
    const beganAt = clock.monotonic();
    const endsAt = beganAt + TURN_MS;
    // A worker that is added again meanwhile waits for the next turn.
    const most = Math.min(this.#waiting.size, MOST_IN_A_TURN);
    let done = 0;
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker);
      work(worker);
      if (++done === most || clock.monotonic() >= endsAt) break;
    }
    const took = clock.monotonic() - beganAt;
    const pauses = Math.max(done / PIECES_A_PAUSE, (took / TURN_MS) * MOST_PAUSES);
    this.#pauses = this.#waiting.size === 0 ? 0 : Math.min(Math.floor(pauses), MOST_PAUSES);
    this.#pausesEndAt = beganAt + took * (1 + THEIR_SHARE);
  }
}
