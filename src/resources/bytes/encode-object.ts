import { asObject } from '../../kubernetes/json.ts';
import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import { type AnnotationPlace, EncodedObject, type Places, type Span } from './encoded-object.ts';

/** How the answer shows an object otherwise than the cluster stores it. */
export interface Presentation {
  readonly selfLink: string;
  /** The annotations that the answer adds, or puts in the place of stored ones; `undefined`: none. */
  readonly addedKeys: ReadonlySet<string> | undefined;
}

/**
 * The object as a list item: stored members in stored order, unknown ones included; without `kind`, `apiVersion` and
 * `managedFields`; with `selfLink` behind the name.
 */
export function encodeObject(object: KubernetesObject, presentation: Presentation): EncodedObject {
  const writer = new ObjectWriter();
  let places: Places = { added: NOTHING_ADDED, metadata: { start: 0, end: 0 }, version: { start: 0, end: 0 } };
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

const NOTHING_ADDED: AnnotationPlace = { start: 0, afterMember: false };

/** Returns the places, counted in characters. */
function writeMetadata(writer: ObjectWriter, metadata: ObjectMeta, { selfLink, addedKeys }: Presentation): Places {
  let added: AnnotationPlace | undefined;
  let version: Span = { start: 0, end: 0 };
  writer.open('metadata');
  const start = writer.text.length - 1;
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'managedFields' || key === 'selfLink') continue;
    if (key === 'annotations' && addedKeys) added = writeAnnotations(writer, value, addedKeys);
    else writer.member(key, value);
    // Between the quotes of what was written last.
    if (key === 'resourceVersion') {
      const end = writer.text.length - 1;
      version = { start: end - (JSON.stringify(value).length - 2), end };
    }
    if (key === 'name') writer.member('selfLink', selfLink);
  }
  if (addedKeys) added ??= writeAnnotations(writer, undefined, addedKeys);
  writer.close();
  return { added: added ?? NOTHING_ADDED, metadata: { start, end: writer.text.length }, version };
}

function writeAnnotations(writer: ObjectWriter, annotations: unknown, addedKeys: ReadonlySet<string>): AnnotationPlace {
  writer.open('annotations');
  for (const [key, value] of Object.entries(asObject(annotations))) {
    if (!addedKeys.has(key)) writer.member(key, value);
  }
  const place = { start: writer.text.length, afterMember: writer.hasMembers };
  writer.close();
  return place;
}

/** Writes one compact JSON text, member by member. */
class ObjectWriter {
  text = '';
  /** A member has been written into the object that is open. */
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
