import type { Entry } from './entry.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { ApiError } from './status.ts';

/** How objects are written: whole, or their metadata alone (`meta.k8s.io/v1` PartialObjectMetadata). */
export interface Form {
  /** `"kind":…,"apiVersion":…` of a list. */
  readonly listType: string;
  /** An item of a list. */
  item(entry: Entry): string;
  /** An object that stands alone: the answer to a get, or in a watch event. */
  object(entry: Entry): string;
  /** The object of a bookmark: a type and a version. */
  bookmark(revision: number, annotations: Readonly<Record<string, string>> | undefined): string;
}

const typeText = (kind: string, apiVersion: string): string => `"kind":"${kind}","apiVersion":"${apiVersion}"`;

const bookmarkText = (type: string, revision: number, annotations?: object): string =>
  `{${type},"metadata":${JSON.stringify({ resourceVersion: String(revision), ...(annotations ? { annotations } : {}) })}}`;

const fullForm = (kind: ResourceKind): Form => {
  const type = typeText(kind.kind, apiVersionOf(kind));
  return {
    listType: typeText(`${kind.kind}List`, apiVersionOf(kind)),
    item: (entry) => entry.text,
    object: (entry) => `{${type},${entry.text.slice(1)}`,
    bookmark: (revision, annotations) => bookmarkText(type, revision, annotations),
  };
};

const METADATA_TYPE = typeText('PartialObjectMetadata', 'meta.k8s.io/v1');
const metadataText = (entry: Entry): string => `{${METADATA_TYPE},"metadata":${JSON.stringify(entry.object.metadata)}}`;

const metadataForm: Form = {
  listType: typeText('PartialObjectMetadataList', 'meta.k8s.io/v1'),
  item: metadataText,
  object: metadataText,
  bookmark: (revision, annotations) => bookmarkText(METADATA_TYPE, revision, annotations),
};

/** Chooses by `Accept`, first usable wins. Tables and protobuf are not offered; clients name JSON after them. */
export function negotiateForm(accept: string | undefined, kind: ResourceKind): Form {
  for (const range of (accept ?? '*/*').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    if (as === undefined) return fullForm(kind);
    if (as.startsWith('PartialObjectMetadata')) return metadataForm;
  }
  throw new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: 'only the following media types are accepted: application/json',
  });
}
