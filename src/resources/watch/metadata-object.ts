import type { Entry } from '../entries/entry.ts';

/** What the API server answers where only metadata is asked for. */
export const METADATA_TYPE = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/** An object's metadata alone, of a node a seventh: with what is added, as in the list, and its status word where its kind shows it. */
export function metadataObject(
  { encoded, status }: Entry,
  { statusKey, resourceVersion }: { readonly statusKey: string | undefined; readonly resourceVersion: string },
): Uint8Array {
  const metadata = JSON.parse(Buffer.from(encoded.metadata()).toString());
  const shown = { ...metadata, resourceVersion };
  if (statusKey !== undefined) shown.annotations = { ...metadata.annotations, [statusKey]: status };
  return Buffer.from(JSON.stringify({ ...METADATA_TYPE, metadata: shown }));
}
