import type { EncodedObject } from '../bytes/encoded-object.ts';
import type { Entry } from '../entries/entry.ts';
import type { Kind } from '../entries/kind.ts';
import { typeMembers, typeOf } from '../entries/object-kind.ts';

/** `json`: one event a line, as Kubernetes streams them. `events`: the same lines as server-sent events. */
export type WatchForm = 'json' | 'events';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

type EventType = ChangeType | 'BOOKMARK' | 'ERROR';

const LINE_END: Readonly<Record<WatchForm, Uint8Array>> = { json: Buffer.from('}\n'), events: Buffer.from('}\n\n') };

const START: Readonly<Record<WatchForm, Readonly<Record<EventType, Uint8Array>>>> = {
  json: startsOf((type) => `{"type":"${type}","object":`),
  events: startsOf((type) => `event: ${type}\ndata: {"type":"${type}","object":`),
};

function startsOf(start: (type: EventType) => string): Record<EventType, Uint8Array> {
  const bytes = (type: EventType): Uint8Array => Buffer.from(start(type));
  return {
    ADDED: bytes('ADDED'),
    MODIFIED: bytes('MODIFIED'),
    DELETED: bytes('DELETED'),
    BOOKMARK: bytes('BOOKMARK'),
    ERROR: bytes('ERROR'),
  };
}

/** The object of an event as it is sent, in pieces. Its text has no line break, because JSON escapes it. */
export type ObjectPieces = readonly Uint8Array[];

/**
 * The item of the list with `version` as its resourceVersion, and with `kind` and `apiVersion` in front, which Kubernetes
 * clients need.
 */
export function itemObject(encoded: EncodedObject, version: string, typeMembers: Uint8Array): ObjectPieces {
  const [head, middle, tail] = encoded.versioned(version);
  return [typeMembers, head.subarray(1), middle, tail];
}

/** The members that say what an object is. */
export interface ObjectType {
  readonly kind: string;
  readonly apiVersion: string;
}

interface Tombstone {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The object of a DELETED event: only its type, name, namespace, uid and resourceVersion. */
export const tombstone = (metadata: Tombstone, type: ObjectType): ObjectPieces => [
  Buffer.from(JSON.stringify({ ...type, metadata })),
];

/**
 * The bytes of one event, in pieces. `id`: the version from which server-sent events can be resumed, if there is one.
 */
export function eventPieces(
  type: EventType,
  object: ObjectPieces,
  { form, id }: { readonly form: WatchForm; readonly id?: string | undefined },
): readonly Uint8Array[] {
  const hasId = form === 'events' && id !== undefined;
  return [START[form][type], ...object, hasId ? Buffer.from(`}\nid: ${id}\n\n`) : LINE_END[form]];
}

export const eventBytes = (type: 'ERROR', object: Uint8Array, form: WatchForm): Uint8Array =>
  Buffer.concat(eventPieces(type, [object], { form }));

/** `isFirst`: the bookmark ends the initial events. Kubernetes clients recognize that by the annotation. */
export function bookmarkEvent(
  version: string,
  { form, type, isFirst }: { readonly form: WatchForm; readonly type: ObjectType; readonly isFirst: boolean },
): Uint8Array {
  const annotations = isFirst ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: version, ...annotations };
  const object = Buffer.from(JSON.stringify({ ...type, metadata }));
  return Buffer.concat(eventPieces('BOOKMARK', [object], { form, id: version }));
}

/**
 * Comes before the initial events of a server-sent stream. The client must forget its objects, and the empty `id` makes
 * it forget its version. A client with a version that is too old gets this instead of an error, because a browser's
 * `EventSource` does not reconnect after an error.
 */
export const RESET = Buffer.from('event: reset\ndata: {"type":"RESET"}\nid:\n\n');

/** How long a client of server-sent events waits before it reconnects. */
export const retryField = (ms: number): Uint8Array => Buffer.from(`retry: ${Math.round(ms)}\n\n`);

/** A comment of server-sent events, which clients ignore. It keeps an idle connection alive. */
export const COMMENT = Buffer.from(':\n\n');

/** The type members of the objects in events. */
export class ObjectTypes {
  /** `kind` and `apiVersion` as bytes, to be put in front of the other members of a whole object. */
  readonly members: Uint8Array;
  readonly statusKey: string | undefined;
  readonly #whole: ObjectType;

  constructor(kind: Kind) {
    this.members = typeMembers(kind);
    this.statusKey = kind.statusKey;
    this.#whole = typeOf(kind);
  }

  of({ metadataOnly }: { readonly metadataOnly: boolean }): ObjectType {
    return metadataOnly ? METADATA_TYPE : this.#whole;
  }
}

/** The type of the API server's answers to clients that ask for metadata only. */
const METADATA_TYPE = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/**
 * An object's metadata alone: for a node a seventh of the bytes. It has the added annotations, as in the list, and the
 * status word if the kind has an annotation for it.
 */
export function metadataObject(
  { encoded, status }: Entry,
  { statusKey, resourceVersion }: { readonly statusKey: string | undefined; readonly resourceVersion: string },
): Uint8Array {
  const metadata = JSON.parse(Buffer.from(encoded.metadata()).toString());
  const shown = { ...metadata, resourceVersion };
  if (statusKey !== undefined) shown.annotations = { ...metadata.annotations, [statusKey]: status };
  return Buffer.from(JSON.stringify({ ...METADATA_TYPE, metadata: shown }));
}
