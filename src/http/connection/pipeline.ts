import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request and what it is to be answered with. */
export interface InFlight {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The memory that Node takes for a waiting request: 1.5 KiB for a bare one, 2.5 KiB with a bearer of 600 bytes. */
const REQUEST_BYTES = 2 * 1024;

/** On one connection: 192 bare requests, or a hundred of 1.8 KiB. No client in use sends a second one before its answer. */
const MOST_BYTES = 384 * 1024;

/** On all connections together: a sixteenth of the memory of the smallest pod of the chart. */
const ROOM_BYTES = 16 * 1024 * 1024;

/**
 * Twelve requests. Above this the connection is not read for now. Up to this, requests may wait even when there is no
 * room left.
 */
const FEW_BYTES = 24 * 1024;

/** What the waiting requests of all connections take. */
export interface PipelineRoom {
  takenBytes: number;
}

/**
 * `held`: it is handled when its turn comes. `full`: neither it nor any after it is handled. `cut`: like `full`, but
 * the connection must be cut at once.
 */
export type Pipelined = 'held' | 'full' | 'cut';

/**
 * The requests that a client sent before those before them were answered (RFC 9112 9.3.2). They wait as Node parsed
 * them, without an exchange: one request of a connection is handled at a time. So a refusal that waits for its turn
 * really holds its connection, at most one answer is made that nobody reads, and two forms of one connection are not
 * judged at once.
 *
 * Node parses all of a read, 64 KiB, before anything can stop it, and keeps what it parsed until the connection closes.
 * So requests that will not be handled take room, too.
 */
export class Pipeline {
  readonly #room: PipelineRoom;
  /** Each with the number of bytes that had been read from the connection when it came. */
  #held: (InFlight & { readonly readBytes: number })[] = [];
  #refused = 0;
  #takenBytes = 0;

  constructor(room: PipelineRoom) {
    this.#room = room;
  }

  /** Whether it has refused a request: all that come later are refused as well. */
  get isFull(): boolean {
    return this.#refused > 0;
  }

  /**
   * Whether to stop reading for now. A paused connection does not notice that its client has gone, so a few requests
   * may wait without a pause. A full one reads on, so that a reset does not lose its last answer.
   */
  get isLong(): boolean {
    return this.#takenBytes > FEW_BYTES && !this.isFull;
  }

  /** Adds a request if there is room for it. */
  add({ request, response }: InFlight): Pipelined {
    const { bytesRead: readBytes } = request.socket;
    this.#held.push({ request, response, readBytes });
    this.#weigh(readBytes);
    const isRoom = this.#room.takenBytes <= ROOM_BYTES;
    if (this.isFull || this.#takenBytes > MOST_BYTES || (this.#takenBytes > FEW_BYTES && !isRoom)) {
      this.#held.pop();
      this.#refused++;
      request.resume(); // nobody reads its body
    }
    if (!this.isFull) return 'held';
    return isRoom ? 'full' : 'cut';
  }

  /** The next one to be handled. */
  next(): InFlight | undefined {
    const next = this.#held.shift();
    if (next) this.#weigh(next.request.socket.bytesRead);
    return next;
  }

  /** Drops the newest one if its body is not complete, since the rest will not come. Returns whether it did. */
  dropIncomplete(): boolean {
    const last = this.#held.at(-1);
    if (!last || last.request.complete) return false;
    this.#held.pop();
    this.#weigh(last.request.socket.bytesRead);
    return true;
  }

  /** Its connection has closed. */
  clear(): void {
    this.#room.takenBytes -= this.#takenBytes;
    this.#takenBytes = 0;
    this.#held = [];
  }

  /** Counts bodies by the bytes that were read since the oldest one came: Node keeps up to 64 KiB of each. */
  #weigh(readBytes: number): void {
    const bodies = readBytes - (this.#held[0]?.readBytes ?? readBytes);
    const takenBytes = (this.#held.length + this.#refused) * REQUEST_BYTES + bodies;
    this.#room.takenBytes += takenBytes - this.#takenBytes;
    this.#takenBytes = takenBytes;
  }
}
