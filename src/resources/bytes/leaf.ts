import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';
import { type DeflatedPiece, deflateLeaf } from './deflated-piece.ts';
import type { EncodedObject } from './encoded-object.ts';
import { PackedText } from './packed-text.ts';

const COMMA = 0x2c;

/** An object with its encoded JSON. */
export interface Encoded {
  readonly encoded: EncodedObject;
}

/**
 * Some tens of neighbouring entries of a sorted list. A leaf never changes; when an object changes, a new leaf takes its
 * place. A leaf makes its bytes on first use and keeps them. A list consists of its leaves, so for one changed object only
 * one leaf is joined and compressed again.
 */
export class Leaf<Entry extends Encoded = Encoded> {
  readonly entries: readonly Entry[];
  /** Bytes of `joined()`. */
  readonly length: number;
  /** How many entries at most have bytes outside the buffer that the others share, since the last join. */
  readonly #loose: number;
  #joined: Uint8Array | undefined;
  #packed: PackedText | undefined;
  /** Bytes of the items in memory, once they were asked for. */
  #itemBytes: number | undefined;
  #deflated: DeflatedPiece | undefined;

  constructor(entries: readonly Entry[], loose = entries.length) {
    this.entries = entries;
    this.length = entries.reduce((sum, { encoded }) => sum + 1 + encoded.length, 0);
    this.#loose = loose;
  }

  get loose(): number {
    return this.#joined || this.#packed ? 0 : this.#loose;
  }

  /** The items, each after a comma. The first leaf of a list is sent without its first byte. */
  joined(): Uint8Array {
    if (this.#packed) return this.#packed.bytes();
    this.#joined ??= this.#join();
    return this.#joined;
  }

  /** Keeps the items deflated from now on. Who reads one inflates all of them. */
  pack(): void {
    if (this.#packed) return;
    this.#packed = new PackedText(this.joined());
    for (const { encoded } of this.entries) encoded.keepIn(this.#packed);
    this.#joined = undefined;
    this.#itemBytes = undefined;
  }

  /** `joined()` as a piece of a deflate stream. */
  deflated(): DeflatedPiece {
    this.#deflated ??= deflateLeaf(this.joined());
    return this.#deflated;
  }

  get isDeflated(): boolean {
    return this.#deflated !== undefined;
  }

  /** How many bytes are in memory: those of the items and those of the compressed form. */
  get heldBytes(): number {
    this.#itemBytes ??= Math.round(this.entries.reduce((sum, { encoded }) => sum + 1 + encoded.heldBytes, 0));
    return this.#itemBytes + (this.#deflated?.bytes.length ?? 0);
  }

  #join(): Uint8Array {
    this.#itemBytes = undefined;
    const joined = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const { encoded } of this.entries) {
      joined[at] = COMMA;
      encoded.moveTo(joined, at + 1);
      at += 1 + encoded.length;
    }
    return joined;
  }
}

interface Leaves {
  readonly version: number;
  readonly leaves: readonly Leaf[];
}

/** What the warmer needs of the cache. */
export interface WarmedCache {
  /** False before the first sync, when nothing is sent yet. */
  hasSynced(): boolean;
  snapshot(): Leaves;
  /** Makes a new version of the same content. */
  renew(): void;
}

/** Short, so that a request for a list finds few uncompressed leaves: about ten at 100 changes a second. */
const PASS_INTERVAL_MS = 100;
/** The warmer works only if a client asked for a compressed list in the last minute. Such clients are likely to ask again. */
const DEMAND_MS = 60_000;

/** Compresses changed leaves before a client asks for them, one in each turn of the event loop. */
export class LeafWarmer {
  readonly #cache: WarmedCache;
  readonly #clock: Clock;
  #askedAt: number;
  /** The version whose gzip list was sent partly uncompressed. */
  #storedVersion: number | undefined;

  /** `isWarm`: assumes that a client will ask for a compressed list soon after the start. */
  constructor(cache: WarmedCache, clock: Clock, isWarm = true) {
    this.#cache = cache;
    this.#clock = clock;
    this.#askedAt = isWarm ? clock.monotonic() : Number.NEGATIVE_INFINITY;
  }

  /** Called when a gzip list is composed. */
  asked(snapshot: Pick<Leaves, 'version'>, { partlyStored }: { partlyStored: boolean }): void {
    this.#askedAt = this.#clock.monotonic();
    if (partlyStored) this.#storedVersion = snapshot.version;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isWanted = this.#clock.monotonic() - this.#askedAt <= DEMAND_MS;
      if (isWanted && this.#cache.hasSynced()) await this.#pass(signal);
      await this.#clock.sleep(PASS_INTERVAL_MS, signal);
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const snapshot = this.#cache.snapshot();
    for (const leaf of snapshot.leaves) {
      if (signal.aborted) return;
      if (leaf.isDeflated) continue;
      leaf.deflated();
      await setImmediate();
    }
    // An ETag always means the same bytes. So the list needs a new version to be sent fully compressed.
    if (this.#storedVersion === this.#cache.snapshot().version) this.#cache.renew();
    this.#storedVersion = undefined;
  }
}
