import type { KubernetesObject, ObjectMeta } from '../kubernetes/object.ts';
import { EncodedNode, type UsagePlace } from './encoded-node.ts';
import { asObject } from './json.ts';
import { ObjectWriter } from './object-writer.ts';

/** The annotations that the answer overwrites; `undefined` with usage switched off. */
export type UsageKeys = ReadonlySet<string> | undefined;

/**
 * The node as a list item: stored members in stored order, unknown ones included; without `kind`, `apiVersion` and
 * `managedFields`; with `selfLink` behind the name.
 */
export function encodeNode(node: KubernetesObject, usageKeys: UsageKeys): EncodedNode {
  const writer = new ObjectWriter();
  let place: UsagePlace = { start: 0, afterMember: false };
  writer.open();
  for (const [key, value] of Object.entries(node)) {
    if (key === 'metadata') place = writeMetadata(writer, node.metadata, usageKeys);
    else if (key !== 'kind' && key !== 'apiVersion') writer.member(key, value);
  }
  writer.close();
  const start = Buffer.byteLength(writer.text.slice(0, place.start));
  return new EncodedNode(Buffer.from(writer.text), { ...place, start }, { held: '', wanted: '' });
}

/** Returns the place of the usage annotations, counted in characters. */
function writeMetadata(writer: ObjectWriter, metadata: ObjectMeta, usageKeys: UsageKeys): UsagePlace {
  let place: UsagePlace | undefined;
  writer.open('metadata');
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'managedFields' || key === 'selfLink') continue;
    if (key === 'annotations' && usageKeys) place = writeAnnotations(writer, value, usageKeys);
    else writer.member(key, value);
    if (key === 'name') writer.member('selfLink', `/api/v1/nodes/${metadata.name}`);
  }
  if (usageKeys) place ??= writeAnnotations(writer, undefined, usageKeys);
  writer.close();
  return place ?? { start: 0, afterMember: false };
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
