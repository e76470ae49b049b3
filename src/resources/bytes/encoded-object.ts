/**
 * One object's JSON as it stands in a list, encoded once. The annotations that the answer adds have a place of their own within
 * it, so that a changed one costs a splice and no encoding. Its content never changes; where the bytes lie may: a leaf takes them
 * over into its own buffer, so that they are in memory once.
 */
export class EncodedObject {
  /** The annotations that are added, as members: `"a":"1","b":"2"`; ASCII. Empty: none. */
  readonly added: string;
  /** Bytes of the text with the added annotations in it. */
  readonly length: number;
  #bytes: Uint8Array;
  readonly #places: Places;
  /** What `#bytes` holds at the place now: bytes taken over from an object with other annotations are spliced on first need. */
  #held: string;

  constructor(bytes: Uint8Array, places: Places, added: { readonly held: string; readonly wanted: string }) {
    this.added = added.wanted;
    this.#bytes = bytes;
    this.#places = places;
    this.#held = added.held;
    this.length = bytes.length - this.#widthOf(added.held) + this.#widthOf(added.wanted);
  }

  /** The same object with other annotations added. */
  withAdded(added: string): EncodedObject {
    return new EncodedObject(this.#bytes, this.#places, { held: this.#held, wanted: added });
  }

  bytes(): Uint8Array {
    if (this.#held !== this.added) this.moveTo(Buffer.allocUnsafeSlow(this.length), 0);
    return this.#bytes;
  }

  /** The text of the metadata, an object. */
  metadata(): Uint8Array {
    const { start, end } = this.#places.metadata;
    return this.bytes().subarray(start, end + this.#widthOf(this.added));
  }

  /** The text with `version` as its `metadata.resourceVersion`, in pieces. */
  versioned(version: string): readonly [head: Uint8Array, version: Uint8Array, tail: Uint8Array] {
    const bytes = this.bytes();
    const { added, version: place } = this.#places;
    const shift = place.start < added.start ? 0 : this.#widthOf(this.added);
    return [bytes.subarray(0, place.start + shift), Buffer.from(version), bytes.subarray(place.end + shift)];
  }

  /** Writes the text into `target` at `at` and keeps it there instead of where it was. */
  moveTo(target: Uint8Array, at: number): void {
    const { start } = this.#places.added;
    if (this.#held === this.added) target.set(this.#bytes, at);
    else {
      target.set(this.#bytes.subarray(0, start), at);
      const width = this.#widthOf(this.added);
      Buffer.from(target.buffer, target.byteOffset + at + start, width).write(this.#placed(this.added), 'latin1');
      target.set(this.#bytes.subarray(start + this.#widthOf(this.#held)), at + start + width);
    }
    this.#bytes = target.subarray(at, at + this.length);
    this.#held = this.added;
  }

  #placed(added: string): string {
    return this.#places.added.afterMember && added !== '' ? `,${added}` : added;
  }

  #widthOf(added: string): number {
    return added === '' ? 0 : added.length + (this.#places.added.afterMember ? 1 : 0);
  }
}

/** Offsets in bytes of the text without what is added. */
export interface Places {
  /** Within the metadata. */
  readonly added: AnnotationPlace;
  readonly metadata: Span;
  /** Of the metadata's resourceVersion, without its quotes. */
  readonly version: Span;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where annotations are added in an object's text. */
export interface AnnotationPlace {
  /** Offset in bytes: the end of the stored annotations. */
  readonly start: number;
  /** A stored annotation stands before it, so a comma is due. */
  readonly afterMember: boolean;
}
