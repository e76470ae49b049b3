import type { Clock } from '../../runtime/clock.ts';

/**
 * The longest time that the workers use the event loop before everything else may run. Most work is a small write of 12 µs. A
 * watcher with a selector of its own may have to check 15,000 nodes, which takes 5 ms.
 */
const SLICE_MS = 8;
/**
 * The most pieces of work in a slice. Node passes writes to the kernel after the slice, so the clock does not measure them. With a
 * limit on time alone, a slice of 8 ms was followed by 50 ms of writes.
 */
const MOST_IN_A_SLICE = 64;

/**
 * For every 4 pieces of work, the event loop makes one turn without any; after a slice of 8 ms it makes 16. The reason is that libuv
 * accepts one connection in each turn of the loop: if every turn had work of ours in it, a thousand watchers that connect at once
 * would be accepted one by one, at least 10 ms apart, and all others after them, the kubelet's probes included. An empty turn takes
 * about 10 µs.
 */
const PIECES_AN_EMPTY_TURN = 4;
const MOST_EMPTY_TURNS = MOST_IN_A_SLICE / PIECES_AN_EMPTY_TURN;
/** If requests make the empty turns long, we wait at most three times as long as our own slice took: a quarter of the time is ours. */
const THEIR_SHARE = 3;

interface WorkSlicesParts<Worker> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Does a small piece of one worker's work. It may add any worker again, and must not throw. */
  work(worker: Worker): void;
  /** Called when no worker waits any more, one turn after the last work: by then its writes have reached the kernel. */
  rest(): void;
}

/** Lets many workers do a little work each, in the order in which they were added, without blocking the event loop. */
export class WorkSlices<Worker> {
  readonly #waiting = new Set<Worker>();
  readonly #parts: WorkSlicesParts<Worker>;
  #isRunning = false;
  /** The number of turns of the event loop before our next work, and the time at which it begins at the latest. */
  #emptyTurns = 0;
  #nextSliceAt = 0;

  constructor(parts: WorkSlicesParts<Worker>) {
    this.#parts = parts;
  }

  /** Adds a worker at the end. A worker that already waits keeps its position. */
  add(worker: Worker): void {
    this.#waiting.add(worker);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#turn);
  }

  #turn = (): void => {
    if (this.#emptyTurns > 0 && this.#parts.clock.monotonic() < this.#nextSliceAt) {
      this.#emptyTurns--;
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
    const endsAt = beganAt + SLICE_MS;
    // A worker that is added again during this slice waits for the next one.
    const most = Math.min(this.#waiting.size, MOST_IN_A_SLICE);
    let done = 0;
    for (const worker of this.#waiting) {
      this.#waiting.delete(worker);
      work(worker);
      if (++done === most || clock.monotonic() >= endsAt) break;
    }
    const took = clock.monotonic() - beganAt;
    const turns = Math.max(done / PIECES_AN_EMPTY_TURN, (took / SLICE_MS) * MOST_EMPTY_TURNS);
    this.#emptyTurns = this.#waiting.size === 0 ? 0 : Math.min(Math.floor(turns), MOST_EMPTY_TURNS);
    this.#nextSliceAt = beganAt + took * (1 + THEIR_SHARE);
  }
}
