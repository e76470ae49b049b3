import { asObject } from '../../kubernetes/json.ts';
import type { KubernetesObject, ObjectMeta } from '../../kubernetes/object.ts';
import { EncodedNode, type Places, type Span, type UsagePlace } from './encoded-object.ts';

/** The annotations that the answer overwrites; `undefined` with usage switched off. */
export type UsageKeys = ReadonlySet<string> | undefined;

/**
 * The node as a list item: stored members in stored order, unknown ones included; without `kind`, `apiVersion` and
 * `managedFields`; with `selfLink` behind the name.
 */
export function encodeNode(node: KubernetesObject, usageKeys: UsageKeys): EncodedNode {
  const writer = new ObjectWriter();
  let places: Places = { usage: NO_USAGE, metadata: { start: 0, end: 0 }, version: { start: 0, end: 0 } };
  writer.open();
  for (const [key, value] of Object.entries(node)) {
    if (key === 'metadata') places = writeMetadata(writer, node.metadata, usageKeys);
    else if (key !== 'kind' && key !== 'apiVersion') writer.member(key, value);
  }
  writer.close();
  const bytesTo = (at: number): number => Buffer.byteLength(writer.text.slice(0, at));
  const usage = { ...places.usage, start: bytesTo(places.usage.start) };
  const inBytes = ({ start, end }: Span): Span => ({ start: bytesTo(start), end: bytesTo(end) });
  const [metadata, version] = [inBytes(places.metadata), inBytes(places.version)];
  return new EncodedNode(Buffer.from(writer.text), { usage, metadata, version }, { held: '', wanted: '' });
}

const NO_USAGE: UsagePlace = { start: 0, afterMember: false };

/** Returns the places, counted in characters. */
function writeMetadata(writer: ObjectWriter, metadata: ObjectMeta, usageKeys: UsageKeys): Places {
  let usage: UsagePlace | undefined;
  let version: Span = { start: 0, end: 0 };
  writer.open('metadata');
  const start = writer.text.length - 1;
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'managedFields' || key === 'selfLink') continue;
    if (key === 'annotations' && usageKeys) usage = writeAnnotations(writer, value, usageKeys);
    else writer.member(key, value);
    // Between the quotes of what was written last.
    if (key === 'resourceVersion') {
      const end = writer.text.length - 1;
      version = { start: end - (JSON.stringify(value).length - 2), end };
    }
    if (key === 'name') writer.member('selfLink', `/api/v1/nodes/${metadata.name}`);
  }
  if (usageKeys) usage ??= writeAnnotations(writer, undefined, usageKeys);
  writer.close();
  return { usage: usage ?? NO_USAGE, metadata: { start, end: writer.text.length }, version };
}

function writeAnnotations(writer: ObjectWriter, annotations: unknown, usageKeys: ReadonlySet<string>): UsagePlace {
  writer.open('annotations');
  for (const [key, value] of Object.entries(asObject(annotations))) {
    if (!usageKeys.has(key)) writer.member(key, value);
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
