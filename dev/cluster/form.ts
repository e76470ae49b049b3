import type { Entry } from './entry.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';

/** How objects are written: whole, or only their metadata (`meta.k8s.io/v1` PartialObjectMetadata). */
export interface Form {
  /** An item of a list. */
  item(entry: Entry): string;
  /** A list with its metadata and items. */
  list(metadata: object, items: readonly string[]): string;
  /** An object that stands alone: the answer to a get, or in a watch event. */
  object(entry: Entry): string;
  /** The object of a bookmark: a type and a version. */
  bookmark(revision: number, annotations: Readonly<Record<string, string>> | undefined): string;
}

export const typeText = (kind: string, apiVersion: string): string => `"kind":"${kind}","apiVersion":"${apiVersion}"`;

const bookmarkText = (type: string, revision: number, annotations?: object): string =>
  `{${type},"metadata":${JSON.stringify({ resourceVersion: String(revision), ...(annotations ? { annotations } : {}) })}}`;

const listIn =
  (type: string): Form['list'] =>
  (metadata, items) =>
    `{${type},"metadata":${JSON.stringify(metadata)},"items":[${items.join(',')}]}`;

export const fullForm = (kind: ResourceKind): Form => {
  const type = typeText(kind.kind, apiVersionOf(kind));
  const bare = ({ conversion }: ResourceKind, entry: Entry): string =>
    conversion ? JSON.stringify(conversion.fromStored(entry.object)) : entry.text;
  const whole = (entry: Entry): string => `{${type},${bare(kind, entry).slice(1)}`;
  return {
    // A real server writes the type into each item of a list of custom resources.
    item: kind.isCustom ? whole : (entry) => bare(kind, entry),
    list: listIn(typeText(`${kind.kind}List`, apiVersionOf(kind))),
    object: whole,
    bookmark: (revision, annotations) => bookmarkText(type, revision, annotations),
  };
};

const METADATA_TYPE = typeText('PartialObjectMetadata', 'meta.k8s.io/v1');
export const metadataText = (entry: Entry): string =>
  `{${METADATA_TYPE},"metadata":${JSON.stringify(entry.object.metadata)}}`;

export const metadataForm: Form = {
  item: metadataText,
  list: listIn(typeText('PartialObjectMetadataList', 'meta.k8s.io/v1')),
  object: metadataText,
  bookmark: (revision, annotations) => bookmarkText(METADATA_TYPE, revision, annotations),
};
