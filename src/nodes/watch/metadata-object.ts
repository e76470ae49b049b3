import type { NodeEntry } from '../entries/entry.ts';

/** What the API server answers where only metadata is asked for. */
export const METADATA_TYPE = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/** The annotation that carries the status word: it is made of spec and status, which are left out. */
const statusKey = (platform: string): string => `node.${platform}.io/status`;

/** A node's metadata alone, a seventh of the node: with its usage, as in the list, and its status word. */
export function metadataObject(
  { encoded, status }: NodeEntry,
  { platform, resourceVersion }: { readonly platform: string; readonly resourceVersion: string },
): Uint8Array {
  const metadata = JSON.parse(Buffer.from(encoded.metadata()).toString());
  const annotations = { ...metadata.annotations, [statusKey(platform)]: status };
  return Buffer.from(JSON.stringify({ ...METADATA_TYPE, metadata: { ...metadata, resourceVersion, annotations } }));
}
