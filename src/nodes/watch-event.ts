import { METADATA_TYPE } from './metadata-object.ts';
import { versionText, type WatchVersion } from './watch-version.ts';

/** `json`: one event a line, as Kubernetes streams them. `events`: the same lines as server-sent events. */
export type WatchForm = 'json' | 'events';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What stands around an object. An object's text has no line break: JSON writes them as \n. */
interface Frame {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

const AFTER: Readonly<Record<WatchForm, string>> = { json: '}\n', events: '}\n\n' };

function frameOf(type: string, form: WatchForm): Frame {
  const line = `{"type":"${type}","object":`;
  const before = form === 'json' ? line : `event: ${type}\ndata: ${line}`;
  return { before: Buffer.from(before), after: Buffer.from(AFTER[form]) };
}

const FRAMES: Readonly<Record<WatchForm, Readonly<Record<ChangeType | 'ERROR', Frame>>>> = {
  json: framesOf('json'),
  events: framesOf('events'),
};

function framesOf(form: WatchForm): Record<ChangeType | 'ERROR', Frame> {
  const frame = (type: string): Frame => frameOf(type, form);
  return { ADDED: frame('ADDED'), MODIFIED: frame('MODIFIED'), DELETED: frame('DELETED'), ERROR: frame('ERROR') };
}

interface Shape {
  readonly metadataOnly: boolean;
}

const typeOf = ({ metadataOnly }: Shape) => (metadataOnly ? METADATA_TYPE : { kind: 'Node', apiVersion: 'v1' });

/** What is told of a node that went or is to be forgotten: who it was, and nothing of what it was. */
export const tombstone = (
  metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string },
  shape: Shape,
): Uint8Array => Buffer.from(JSON.stringify({ ...typeOf(shape), metadata }));

/** The bytes of one event, in pieces: an item of the list as it stands there, framed. */
export function eventPieces(type: ChangeType | 'ERROR', object: Uint8Array, form: WatchForm): readonly Uint8Array[] {
  const { before, after } = FRAMES[form][type];
  return [before, object, after];
}

export const eventBytes = (...event: Parameters<typeof eventPieces>): Uint8Array =>
  Buffer.concat(eventPieces(...event));

/** The end of an event that brings its reader to `version`: the `id` of server-sent events. */
export const lastPiece = (version: WatchVersion, form: WatchForm): Uint8Array =>
  Buffer.from(form === 'json' ? AFTER.json : `}\nid: ${versionText(version)}\n\n`);

/** `isFirst`: it ends the first state, which clients of Kubernetes know by this annotation. */
export function bookmarkEvent(
  version: WatchVersion,
  { form, metadataOnly, isFirst }: Shape & { readonly form: WatchForm; readonly isFirst: boolean },
): Uint8Array {
  const annotations = isFirst ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: versionText(version), ...annotations };
  const object = Buffer.from(JSON.stringify({ ...typeOf({ metadataOnly }), metadata }));
  const { before } = frameOf('BOOKMARK', form);
  return Buffer.concat([before, object, lastPiece(version, form)]);
}

/**
 * Server-sent events begin a first state with it: what their reader has is to be forgotten. A reader that comes back by itself with a
 * version that is known no more is told so without an error, after which a browser's `EventSource` would not come back again.
 */
export const RESET = Buffer.from('event: reset\ndata: {"type":"RESET"}\n\n');

/** How long a reader of server-sent events waits before it comes back. */
export const retryField = (ms: number): Uint8Array => Buffer.from(`retry: ${Math.round(ms)}\n\n`);

/** A comment of server-sent events: it keeps an idle connection alive and says nothing. */
export const COMMENT = Buffer.from(':\n\n');
