import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import { asObject } from '../../runtime/text/json-value.ts';

/**
 * One object's JSON as it stands in a list, encoded once. It remembers where the added annotations are, so when one
 * changes, it splices the bytes and encodes nothing again. The content never changes, but the bytes may move: a leaf
 * copies them into its own buffer and they stay there, so they are in memory once.
 */
export class EncodedObject {
  /** The added annotations as JSON members: `"a":"1","b":"2"`. ASCII. Empty if there are none. */
  readonly added: string;
  /** Bytes of the text with the added annotations in it. */
  readonly length: number;
  #bytes: Uint8Array;
  readonly #places: ByteOffsets;
  /**
   * The added annotations that `#bytes` holds now. If they differ from `added`, the bytes are spliced when they are first
   * needed.
   */
  #held: string;

  constructor(bytes: Uint8Array, places: ByteOffsets, added: { readonly held: string; readonly wanted: string }) {
    this.added = added.wanted;
    this.#bytes = bytes;
    this.#places = places;
    this.#held = added.held;
    this.length = bytes.length - this.#widthOf(added.held) + this.#widthOf(added.wanted);
  }

  /** This object with other annotations added. */
  withAdded(added: string): EncodedObject {
    return new EncodedObject(this.#bytes, this.#places, { held: this.#held, wanted: added });
  }

  bytes(): Uint8Array {
    if (this.#held !== this.added) this.moveTo(Buffer.allocUnsafeSlow(this.length), 0);
    return this.#bytes;
  }

  /** The JSON text of the metadata. */
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

  /** Writes the text into `target` at `at`. The object keeps it there from now on. */
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
    const { before, after } = this.#places.added;
    return added === '' ? '' : before + added + after;
  }

  #widthOf(added: string): number {
    const { before, after } = this.#places.added;
    return added === '' ? 0 : before.length + added.length + after.length;
  }
}

/** Byte offsets in the text without added annotations. */
export interface ByteOffsets {
  readonly added: AnnotationPlace;
  readonly metadata: Span;
  /** The metadata's resourceVersion, without its quotes. */
  readonly version: Span;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where annotations are added in an object's text. */
interface AnnotationPlace {
  /** Offset in bytes: the end of the stored annotations, or of the metadata where there are none. */
  readonly start: number;
  /** Text around the added annotations, if there are any: a comma, or the rest of an `annotations` member. ASCII. */
  readonly before: string;
  readonly after: string;
}

/** What an answer changes in an object that the cluster stores. */
export interface Presentation {
  /** `undefined`: none. */
  readonly selfLink: string | undefined;
  /** The annotations that the answer adds, or replaces. `undefined`: none. */
  readonly addedKeys: ReadonlySet<string> | undefined;
}

/**
 * The object as a list item: stored members in stored order, unknown ones included; without `kind`, `apiVersion` and
 * `managedFields`; with `selfLink` after the name, if the kind has one.
 */
export function encodeObject(object: KubernetesObject, presentation: Presentation): EncodedObject {
  const writer = new ObjectWriter();
  let places: ByteOffsets = { added: NOTHING_ADDED, metadata: { start: 0, end: 0 }, version: { start: 0, end: 0 } };
  writer.open();
  for (const [key, value] of Object.entries(object)) {
    if (key === 'metadata') places = writeMetadata(writer, object.metadata, presentation);
    else if (key !== 'kind' && key !== 'apiVersion') writer.member(key, value);
  }
  writer.close();
  const bytesTo = (at: number): number => Buffer.byteLength(writer.text.slice(0, at));
  const added = { ...places.added, start: bytesTo(places.added.start) };
  const inBytes = ({ start, end }: Span): Span => ({ start: bytesTo(start), end: bytesTo(end) });
  const [metadata, version] = [inBytes(places.metadata), inBytes(places.version)];
  return new EncodedObject(Buffer.from(writer.text), { added, metadata, version }, { held: '', wanted: '' });
}

const NOTHING_ADDED: AnnotationPlace = { start: 0, before: '', after: '' };
/** Appended to the metadata, which always has members, so it begins with a comma. */
const NEW_ANNOTATIONS = { before: ',"annotations":{', after: '}' };

/** Returns offsets in characters, not in bytes. */
function writeMetadata(writer: ObjectWriter, metadata: ObjectMeta, { selfLink, addedKeys }: Presentation): ByteOffsets {
  let added: AnnotationPlace | undefined;
  let version: Span = { start: 0, end: 0 };
  writer.open('metadata');
  const start = writer.text.length - 1;
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'managedFields' || key === 'selfLink') continue;
    if (key === 'annotations' && addedKeys) added = writeAnnotations(writer, value, addedKeys);
    else writer.member(key, value);
    // This member was just written, so its value ends before the closing quote.
    if (key === 'resourceVersion') {
      const end = writer.text.length - 1;
      version = { start: end - (JSON.stringify(value).length - 2), end };
    }
    if (key === 'name' && selfLink !== undefined) writer.member('selfLink', selfLink);
  }
  if (addedKeys) added ??= { start: writer.text.length, ...NEW_ANNOTATIONS };
  writer.close();
  return { added: added ?? NOTHING_ADDED, metadata: { start, end: writer.text.length }, version };
}

function writeAnnotations(writer: ObjectWriter, annotations: unknown, addedKeys: ReadonlySet<string>): AnnotationPlace {
  writer.open('annotations');
  for (const [key, value] of Object.entries(asObject(annotations))) {
    if (!addedKeys.has(key)) writer.member(key, value);
  }
  const place = { start: writer.text.length, before: writer.hasMembers ? ',' : '', after: '' };
  writer.close();
  return place;
}

/** Writes one compact JSON text, member by member. */
class ObjectWriter {
  text = '';
  /** Whether the open object already has a member. */
  hasMembers = false;

  open(key?: string): void {
    if (key !== undefined) this.#name(key);
    this.text += '{';
    this.hasMembers = false;
  }

  close(): void {
    this.text += '}';
    this.hasMembers = true;
  }

  /** `value` is plain JSON. */
  member(key: string, value: unknown): void {
    this.#name(key);
    this.text += JSON.stringify(value);
  }

  #name(key: string): void {
    this.text += this.hasMembers ? `,${JSON.stringify(key)}:` : `${JSON.stringify(key)}:`;
    this.hasMembers = true;
  }
}
