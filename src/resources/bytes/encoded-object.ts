import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { PackedText } from './packed-text.ts';

/**
 * One object's JSON as it stands in a list, encoded once. It remembers where the added annotations are, so when one
 * changes, it splices the bytes and encodes nothing again. The content never changes, but the bytes may move: a leaf
 * copies them into its own buffer and they stay there, so they are in memory once. There are as many of these as objects
 * in all mirrors, so the places are plain numbers in it and the bytes are an offset into a shared buffer: a view and an
 * object for each place would take 250 bytes more.
 */
export class EncodedObject {
  /** The added annotations as JSON members: `"a":"1","b":"2"`. ASCII. Empty if there are none. */
  readonly added: string;
  /** Bytes of the text with the added annotations in it. */
  readonly length: number;
  /** What has the bytes, from `#at` on. */
  #buffer: Uint8Array | PackedText;
  #at: number;
  /**
   * The added annotations that the bytes hold now. If they differ from `added`, the bytes are spliced when they are first
   * needed.
   */
  #held: string;
  readonly #around: AnnotationFrame;
  readonly #addedAt: number;
  readonly #metadataStart: number;
  readonly #metadataEnd: number;
  readonly #versionStart: number;
  readonly #versionEnd: number;

  constructor(held: HeldText, places: ByteOffsets, added: string) {
    this.added = added;
    this.#buffer = held.buffer;
    this.#at = held.at;
    this.#held = held.held;
    this.#around = places.around;
    this.#addedAt = places.addedAt;
    this.#metadataStart = places.metadataStart;
    this.#metadataEnd = places.metadataEnd;
    this.#versionStart = places.versionStart;
    this.#versionEnd = places.versionEnd;
    this.length = held.length - this.#widthOf(held.held) + this.#widthOf(added);
  }

  /** This object with other annotations added. */
  withAdded(added: string): EncodedObject {
    const held = { buffer: this.#buffer, at: this.#at, length: this.#heldLength, held: this.#held };
    const places = {
      around: this.#around,
      addedAt: this.#addedAt,
      metadataStart: this.#metadataStart,
      metadataEnd: this.#metadataEnd,
      versionStart: this.#versionStart,
      versionEnd: this.#versionEnd,
    };
    return new EncodedObject(held, places, added);
  }

  bytes(): Uint8Array {
    if (this.#held !== this.added) this.moveTo(Buffer.allocUnsafeSlow(this.length), 0);
    return this.#heldText();
  }

  /** The JSON text of the metadata. */
  metadata(): Uint8Array {
    return this.bytes().subarray(this.#metadataStart, this.#metadataEnd + this.#widthOf(this.added));
  }

  /** The text with `version` as its `metadata.resourceVersion`, in pieces. */
  versioned(version: string): readonly [head: Uint8Array, version: Uint8Array, tail: Uint8Array] {
    const bytes = this.bytes();
    const shift = this.#versionStart < this.#addedAt ? 0 : this.#widthOf(this.added);
    return [
      bytes.subarray(0, this.#versionStart + shift),
      Buffer.from(version),
      bytes.subarray(this.#versionEnd + shift),
    ];
  }

  sharesBuffer(other: EncodedObject): boolean {
    return this.#buffer === other.#buffer;
  }

  /** How many bytes of memory the text takes: its share of a packed text, or all of it. */
  get heldBytes(): number {
    const buffer = this.#buffer;
    return buffer instanceof PackedText ? (this.length * buffer.heldBytes) / buffer.length : this.length;
  }

  /** Takes the text out of a buffer that it shares, so that this object alone does not keep the whole buffer. */
  moveOut(): void {
    const buffer = this.#buffer;
    const isShared = buffer instanceof PackedText || buffer.buffer.byteLength > this.#heldLength;
    if (isShared) this.moveTo(Buffer.allocUnsafeSlow(this.length), 0);
  }

  /** Lets go of the buffer to which the text was moved: `packed` has the same bytes. */
  keepIn(packed: PackedText): void {
    this.#buffer = packed;
  }

  /** Writes the text into `target` at `at`. The object keeps it there from now on. */
  moveTo(target: Uint8Array, at: number): void {
    const bytes = this.#heldText();
    if (this.#held === this.added) target.set(bytes, at);
    else {
      const start = this.#addedAt;
      target.set(bytes.subarray(0, start), at);
      const width = this.#widthOf(this.added);
      Buffer.from(target.buffer, target.byteOffset + at + start, width).write(this.#placed(this.added), 'latin1');
      target.set(bytes.subarray(start + this.#widthOf(this.#held)), at + start + width);
    }
    this.#buffer = target;
    this.#at = at;
    this.#held = this.added;
  }

  #heldText(): Uint8Array {
    const buffer = this.#buffer instanceof PackedText ? this.#buffer.bytes() : this.#buffer;
    return buffer.subarray(this.#at, this.#at + this.#heldLength);
  }

  get #heldLength(): number {
    return this.length - this.#widthOf(this.added) + this.#widthOf(this.#held);
  }

  #placed(added: string): string {
    const { before, after } = this.#around;
    return added === '' ? '' : before + added + after;
  }

  #widthOf(added: string): number {
    const { before, after } = this.#around;
    return added === '' ? 0 : before.length + added.length + after.length;
  }
}

/** A text with these added annotations in it. */
interface HeldText {
  readonly buffer: Uint8Array | PackedText;
  readonly at: number;
  readonly length: number;
  readonly held: string;
}

/** Byte offsets in the text without added annotations. */
interface ByteOffsets {
  /** Where annotations are added: the end of the stored annotations, or of the metadata where there are none. */
  readonly addedAt: number;
  readonly around: AnnotationFrame;
  readonly metadataStart: number;
  readonly metadataEnd: number;
  /** The metadata's resourceVersion, without its quotes. */
  readonly versionStart: number;
  readonly versionEnd: number;
}

/** Text around the added annotations, if there are any: a comma, or the rest of an `annotations` member. ASCII. */
interface AnnotationFrame {
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
  let places = NO_PLACES;
  writer.open();
  for (const [key, value] of Object.entries(object)) {
    if (key === 'metadata') places = writeMetadata(writer, object.metadata, presentation);
    else if (key !== 'kind' && key !== 'apiVersion') writer.member(key, value);
  }
  writer.close();
  const bytesTo = (at: number): number => Buffer.byteLength(writer.text.slice(0, at));
  const inBytes = {
    addedAt: bytesTo(places.addedAt),
    around: places.around,
    metadataStart: bytesTo(places.metadataStart),
    metadataEnd: bytesTo(places.metadataEnd),
    versionStart: bytesTo(places.versionStart),
    versionEnd: bytesTo(places.versionEnd),
  };
  const bytes = Buffer.from(writer.text);
  return new EncodedObject({ buffer: bytes, at: 0, length: bytes.length, held: '' }, inBytes, '');
}

const NO_FRAME: AnnotationFrame = { before: '', after: '' };
/** After stored annotations. */
const NEXT_ANNOTATIONS: AnnotationFrame = { before: ',', after: '' };
/** Appended to the metadata, which always has members, so it begins with a comma. */
const NEW_ANNOTATIONS: AnnotationFrame = { before: ',"annotations":{', after: '}' };

const NO_PLACES: ByteOffsets = {
  addedAt: 0,
  around: NO_FRAME,
  metadataStart: 0,
  metadataEnd: 0,
  versionStart: 0,
  versionEnd: 0,
};

type AnnotationPlace = Pick<ByteOffsets, 'addedAt' | 'around'>;
type VersionPlace = Pick<ByteOffsets, 'versionStart' | 'versionEnd'>;

/** Returns offsets in characters, not in bytes. */
function writeMetadata(writer: ObjectWriter, metadata: ObjectMeta, { selfLink, addedKeys }: Presentation): ByteOffsets {
  let added: AnnotationPlace | undefined;
  let version: VersionPlace = NO_PLACES;
  writer.open('metadata');
  const metadataStart = writer.text.length - 1;
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'managedFields' || key === 'selfLink') continue;
    if (key === 'annotations' && addedKeys) added = writeAnnotations(writer, value, addedKeys);
    else writer.member(key, value);
    if (key === 'resourceVersion') version = versionBefore(writer.text.length, value);
    if (key === 'name' && selfLink !== undefined) writer.member('selfLink', selfLink);
  }
  if (addedKeys) added ??= { addedAt: writer.text.length, around: NEW_ANNOTATIONS };
  writer.close();
  const { addedAt, around } = added ?? NO_PLACES;
  const { versionStart, versionEnd } = version;
  return { addedAt, around, metadataStart, metadataEnd: writer.text.length, versionStart, versionEnd };
}

/** The place of a version that was just written, so that its closing quote is the last character. */
function versionBefore(end: number, value: unknown): VersionPlace {
  const versionEnd = end - 1;
  return { versionStart: versionEnd - (JSON.stringify(value).length - 2), versionEnd };
}

function writeAnnotations(writer: ObjectWriter, annotations: unknown, addedKeys: ReadonlySet<string>): AnnotationPlace {
  writer.open('annotations');
  for (const [key, value] of Object.entries(asObject(annotations))) {
    if (!addedKeys.has(key)) writer.member(key, value);
  }
  const place = { addedAt: writer.text.length, around: writer.hasMembers ? NEXT_ANNOTATIONS : NO_FRAME };
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
