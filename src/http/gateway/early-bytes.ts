import type { Taken } from '../exchange-start.ts';

/** The most bytes that are kept until the upgrade is accepted. A client has no need to send any before that. */
const MOST_BYTES = 64 * 1024;

/**
 * Reads a connection between an upgrade request and its answer. Node no longer reads it, and without reading we would not notice that
 * the client has gone. The connection is cut when the client closes it or sends more than 64 KiB.
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

  /** Stops reading. Returns the bytes that have come. */
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
