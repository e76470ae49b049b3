import type { Taken } from '../exchange.ts';

/** A client need not send anything before the upgrade is accepted; if it does, its bytes are kept until then, up to this many. */
const MOST_BYTES = 64 * 1024;

/**
 * Reads a connection between a request for an upgrade and its answer. Node no longer reads it, and only a reader learns
 * that the client has gone. The connection is cut when the client goes or sends more than 64 KiB.
 */
export class EarlyBytes {
  readonly #taken: Taken;
  readonly #pieces: Buffer[];
  #bytes: number;

  constructor(taken: Taken) {
    this.#taken = taken;
    this.#pieces = [taken.head];
    this.#bytes = taken.head.length;
    taken.socket.on('data', this.#take).once('end', this.#leave);
  }

  /** Stops reading. Returns all that came. */
  stop(): Buffer {
    this.#taken.socket.off('data', this.#take).off('end', this.#leave).pause();
    return Buffer.concat(this.#pieces);
  }

  readonly #take = (piece: Buffer): void => {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > MOST_BYTES) this.#leave();
  };

  readonly #leave = (): void => {
    this.#taken.socket.destroy();
  };
}
