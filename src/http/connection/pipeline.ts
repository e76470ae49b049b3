import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and its response. */
export interface InFlight {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The memory that Node needs for a waiting request: 1.5 KiB for a minimal one, 2.5 KiB with a bearer token of 600 bytes. */
const REQUEST_BYTES = 2 * 1024;

/**
 * The most memory of one connection's waiting requests: 192 minimal requests, or a hundred of 1.8 KiB (A-12, docs/promises.md). No
 * client in use sends a second request before the first is answered.
 */
const MOST_BYTES = 384 * 1024;

/** The most memory of the waiting requests of all connections: a sixteenth of the memory of the smallest pod of the chart. */
const BUDGET_BYTES = 16 * 1024 * 1024;

/**
 * Twelve requests. If a connection's waiting requests take more, reading from it pauses. If they take less, they may wait even when
 * `BUDGET_BYTES` are used up.
 */
const FEW_BYTES = 24 * 1024;

/** The memory that the waiting requests of all connections use. */
export interface PipelineBudget {
  takenBytes: number;
}

/**
 * `held`: the request is handled when its turn comes. `full`: neither this request nor any later one is handled. `cut`: like
 * `full`, but the connection must be cut at once.
 */
export type Pipelined = 'held' | 'full' | 'cut';

/**
 * The pipelined requests of a connection: those that a client sent before its earlier requests were answered (RFC 9112 9.3.2). They
 * wait as Node parsed them, without an exchange, and are handled one at a time. So a delayed refusal delays its whole connection. We
 * make at most one answer for a client that does not read, and check no two sign-ins of a connection at the same time.
 *
 * Node parses a whole read of 64 KiB before anything can stop it, and keeps the parsed requests until the connection closes. So
 * requests that will not be handled count, too.
 */
export class Pipeline {
  readonly #budget: PipelineBudget;
  /** The waiting requests, each with the number of bytes that had been read from the connection when it came. */
  #held: (InFlight & { readonly readBytes: number })[] = [];
  #refused = 0;
  #takenBytes = 0;

  constructor(budget: PipelineBudget) {
    this.#budget = budget;
  }

  /** Whether a request was refused: all later ones are then refused as well. */
  get isFull(): boolean {
    return this.#refused > 0;
  }

  /**
   * Whether to pause reading. A paused socket does not notice that its client has gone, so a few requests may wait without a pause.
   * Reading goes on for a full pipeline: closing a socket with unread bytes would send a reset, and the last answer could be lost.
   */
  get isLong(): boolean {
    return this.#takenBytes > FEW_BYTES && !this.isFull;
  }

  /** Adds a request if there is room for it. */
  add({ request, response }: InFlight): Pipelined {
    const { bytesRead: readBytes } = request.socket;
    this.#held.push({ request, response, readBytes });
    this.#weigh(readBytes);
    const isRoom = this.#budget.takenBytes <= BUDGET_BYTES;
    if (this.isFull || this.#takenBytes > MOST_BYTES || (this.#takenBytes > FEW_BYTES && !isRoom)) {
      this.#held.pop();
      this.#refused++;
      request.resume(); // nobody reads its body
    }
    if (!this.isFull) return 'held';
    return isRoom ? 'full' : 'cut';
  }

  /** Removes and returns the request that is handled next. */
  next(): InFlight | undefined {
    const next = this.#held.shift();
    if (next) this.#weigh(next.request.socket.bytesRead);
    return next;
  }

  /** Drops the newest request if its body is incomplete, because the rest will not come. Returns whether it did. */
  dropIncomplete(): boolean {
    const last = this.#held.at(-1);
    if (!last || last.request.complete) return false;
    this.#held.pop();
    this.#weigh(last.request.socket.bytesRead);
    return true;
  }

  /** Drops all requests and gives their room back, because the connection has closed. */
  clear(): void {
    this.#budget.takenBytes -= this.#takenBytes;
    this.#takenBytes = 0;
    this.#held = [];
  }

  /** Counts request bodies by the bytes read since the oldest waiting request came: Node keeps up to 64 KiB of each. */
  #weigh(readBytes: number): void {
    const bodies = readBytes - (this.#held[0]?.readBytes ?? readBytes);
    const takenBytes = (this.#held.length + this.#refused) * REQUEST_BYTES + bodies;
    this.#budget.takenBytes += takenBytes - this.#takenBytes;
    this.#takenBytes = takenBytes;
  }
}
