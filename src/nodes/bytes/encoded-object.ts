/**
 * One node's JSON as it stands in a list, encoded once. The usage annotations have a place of their own within it, so that
 * changed usage costs a splice and no encoding. Its content never changes; where the bytes lie may: a leaf takes them over
 * into its own buffer, so that they are in memory once.
 */
export class EncodedNode {
  /** The members that stand in the usage place, e.g. `"a":"1","b":"2"`; ASCII. Empty: none. */
  readonly usage: string;
  /** Bytes of the text with the usage in it. */
  readonly length: number;
  #bytes: Uint8Array;
  readonly #places: Places;
  /** What `#bytes` holds at the place now: bytes taken over from a node with other usage are spliced on first need. */
  #heldUsage: string;

  constructor(bytes: Uint8Array, places: Places, usage: { readonly held: string; readonly wanted: string }) {
    this.usage = usage.wanted;
    this.#bytes = bytes;
    this.#places = places;
    this.#heldUsage = usage.held;
    this.length = bytes.length - this.#widthOf(usage.held) + this.#widthOf(usage.wanted);
  }

  /** The same node with other usage. */
  withUsage(usage: string): EncodedNode {
    return new EncodedNode(this.#bytes, this.#places, { held: this.#heldUsage, wanted: usage });
  }

  bytes(): Uint8Array {
    if (this.#heldUsage !== this.usage) this.moveTo(Buffer.allocUnsafeSlow(this.length), 0);
    return this.#bytes;
  }

  /** The text of the metadata, an object. */
  metadata(): Uint8Array {
    const { start, end } = this.#places.metadata;
    return this.bytes().subarray(start, end + this.#widthOf(this.usage));
  }

  /** The text with `version` as its `metadata.resourceVersion`, in pieces. */
  versioned(version: string): readonly [head: Uint8Array, version: Uint8Array, tail: Uint8Array] {
    const bytes = this.bytes();
    const { usage, version: place } = this.#places;
    const shift = place.start < usage.start ? 0 : this.#widthOf(this.usage);
    return [bytes.subarray(0, place.start + shift), Buffer.from(version), bytes.subarray(place.end + shift)];
  }

  /** Writes the text into `target` at `at` and keeps it there instead of where it was. */
  moveTo(target: Uint8Array, at: number): void {
    const { start } = this.#places.usage;
    if (this.#heldUsage === this.usage) target.set(this.#bytes, at);
    else {
      target.set(this.#bytes.subarray(0, start), at);
      const width = this.#widthOf(this.usage);
      Buffer.from(target.buffer, target.byteOffset + at + start, width).write(this.#placed(this.usage), 'latin1');
      target.set(this.#bytes.subarray(start + this.#widthOf(this.#heldUsage)), at + start + width);
    }
    this.#bytes = target.subarray(at, at + this.length);
    this.#heldUsage = this.usage;
  }

  #placed(usage: string): string {
    return this.#places.usage.afterMember && usage !== '' ? `,${usage}` : usage;
  }

  #widthOf(usage: string): number {
    return usage === '' ? 0 : usage.length + (this.#places.usage.afterMember ? 1 : 0);
  }
}

/** Offsets in bytes of the text without usage. */
export interface Places {
  /** Within the metadata. */
  readonly usage: UsagePlace;
  readonly metadata: Span;
  /** Of the metadata's resourceVersion, without its quotes. */
  readonly version: Span;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where usage annotations go in a node's text. */
export interface UsagePlace {
  /** Offset in bytes: the end of the stored annotations. */
  readonly start: number;
  /** A stored annotation stands before it, so a comma is due. */
  readonly afterMember: boolean;
}
