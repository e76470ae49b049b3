import type { ServerResponse } from 'node:http';
import type { AnswerBody } from './answer.ts';

/** 16 MiB: a list of 1,000 nodes in one vectored write. What a slow reader holds is shared with all who read that version. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** As many answers wait for each other: more gain nothing, and the first would wait for the last to be made. */
const MOST_WAITING = 64;

interface Outgoing {
  readonly response: ServerResponse;
  readonly pieces: readonly Uint8Array[];
}

/**
 * Hands answers to their sockets together, when all requests that the event loop found ready have been judged. Judging one
 * after the other, then sending one after the other, keeps the code of each in the processor's caches, and wakes a reader of
 * several connections once: short lists cost a fifth less than when each is sent at once (docs/performance.md). At most 64 answers
 * or 16 MiB wait so.
 */
export class Outbox {
  readonly #stallMs: number;
  #outgoing: Outgoing[] = [];
  #bytes = 0;

  /** `stallMs`: a client that takes nothing of its answer for so long is cut off. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /** Sends the pieces in this order, without a copy, and ends the answer. Its head was written, and it has its length. */
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

/** What the kernel did not take at once waits for the client. Node ends a socket on which nothing moves for so long. */
export function cutOffWhenStalled(response: ServerResponse, stallMs: number): void {
  if (response.socket?.writableLength !== 0) response.setTimeout(stallMs);
}

/** Writes a batch at a time, and the next one when the client has taken it. */
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
