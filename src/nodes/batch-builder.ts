import { type ChangeType, eventPieces, lastPiece, type WatchForm } from './watch-event.ts';
import type { WatchVersion } from './watch-version.ts';

/** As much as a socket takes without holding its writer back (`highWaterMark`): a slow reader costs one of these. */
const BATCH_BYTES = 64 * 1024;

/** Whole events, one behind the other. */
export class BatchBuilder {
  readonly #form: WatchForm;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(form: WatchForm) {
    this.#form = form;
  }

  get isFull(): boolean {
    return this.#length >= BATCH_BYTES;
  }

  add(type: ChangeType, object: Uint8Array): void {
    this.#pieces.push(...eventPieces(type, object, this.#form));
    this.#length += object.length;
  }

  /** With the last event its reader is up to date at this version. */
  endsAt(version: WatchVersion): void {
    if (this.#pieces.pop()) this.#pieces.push(lastPiece(version, this.#form));
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}
