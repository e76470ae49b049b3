import type { ServerResponse } from 'node:http';

/** A body in pieces, written in this order without a copy; `length` is their sum in bytes. */
export interface AnswerBody {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
}

/**
 * 16 MiB: a list of 1,000 nodes in one vectored write. What waits for a slow reader is shared by all readers of that
 * version.
 */
const BATCH_BYTES = 16 * 1024 * 1024;

/**
 * At most this many answers are gathered: more bring no gain, and the first would have to wait until the last is made.
 */
const MOST_WAITING = 64;

interface Outgoing {
  readonly response: ServerResponse;
  readonly pieces: readonly Uint8Array[];
}

/**
 * Writes answers to their sockets together, after all requests that the event loop found ready have been handled. First
 * handling all, then writing all keeps the code of each phase in the processor's caches, and wakes a client with
 * several connections once. Short lists cost a fifth less than when each answer is written at once
 * (docs/performance.md). At most 64 answers or 16 MiB wait this way.
 */
export class Outbox {
  readonly #stallMs: number;
  #outgoing: Outgoing[] = [];
  #bytes = 0;

  /** `stallMs`: a client that reads nothing of its answer for this long is cut off. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /**
   * Sends the pieces in this order, without a copy, and ends the answer. Its head must have been written, with the
   * length.
   */
  add(response: ServerResponse, { pieces, length }: AnswerBody): void {
    if (this.#outgoing.length === 0) setImmediate(this.#send);
    this.#outgoing.push({ response, pieces });
    this.#bytes += length;
    if (this.#outgoing.length >= MOST_WAITING || this.#bytes >= BATCH_BYTES) this.#send();
  }

  readonly #send = (): void => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    this.#bytes = 0;
    for (const { response, pieces } of outgoing) {
      writePieces(response, pieces, 0);
      cutOffWhenStalled(response, this.#stallMs);
    }
  };
}

/**
 * If the kernel did not take the whole answer at once, the rest waits for the client: Node ends a socket on which
 * nothing moves for `stallMs`.
 */
export function cutOffWhenStalled(response: ServerResponse, stallMs: number): void {
  if (response.socket?.writableLength !== 0) response.setTimeout(stallMs);
}

/** Writes one batch at a time, the next one when the socket has drained. */
function writePieces(response: ServerResponse, pieces: readonly Uint8Array[], from: number): void {
  let next = from;
  response.cork();
  for (let batch = 0; next < pieces.length - 1 && batch < BATCH_BYTES; next++) {
    const piece = pieces[next] as Uint8Array;
    batch += piece.byteLength;
    response.write(piece);
  }
  if (next >= pieces.length - 1) {
    response.end(pieces[next]);
    response.uncork();
    return;
  }
  response.uncork();
  const proceed = (): void => writePieces(response, pieces, next);
  if (response.writableNeedDrain) response.once('drain', proceed);
  else setImmediate(() => response.destroyed || proceed());
}
