import { hash } from 'node:crypto';
import type { ObjectMeta } from '../../kubernetes/object.ts';
import { piecesComposer } from '../../resources/bytes/list-body.ts';
import { type Representation, VersionedRepresentation } from '../../resources/bytes/representation.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { TimeSlices } from '../../runtime/time-slices.ts';
import { LAST_APPLIED, trimmed } from '../kind-value.ts';
import type { KindHit } from './best-hits.ts';
import type { Ranked, ScannedKind } from './scan.ts';

/** A kind that was not searched. `not available`: its own list answers 503, because the cluster cannot be followed. */
export interface LeftOutKind {
  readonly resource: string;
  readonly reason: 'not in memory' | 'denied' | 'not available';
}

const OPENING = Buffer.from('{"items":[');
const CLOSING = Buffer.from('}');

/** The answer to a search. */
export function searchAnswer(
  { hits, totals }: Ranked<ScannedKind>,
  leftOut: readonly LeftOutKind[],
  slices: TimeSlices,
): Representation {
  const end = `],"totalItems":${JSON.stringify(Object.fromEntries(totals))},"leftOut":${JSON.stringify(leftOut)}}`;
  const items = hits.map((hit, at) => itemOf(hit, at === 0 ? '' : ','));
  const composer = piecesComposer([OPENING, ...items, Buffer.from(end)]);
  return new VersionedRepresentation(tagOf(hits, end), composer, slices);
}

/**
 * One piece with a copy of the metadata. A view would keep the text in memory of which the metadata is a part, for as long as a slow reader
 * takes.
 */
function itemOf({ kind: { type, name }, entry }: KindHit<ScannedKind>, before: string): Uint8Array {
  const head = JSON.stringify({ ...type, resource: name }).slice(0, -1);
  return Buffer.concat([Buffer.from(`${before}${head},"metadata":`), metadataOf(entry), CLOSING]);
}

/** The metadata as the kind's list has it, but never with the copy of the object that `kubectl apply` stores. */
function metadataOf({ encoded, annotations }: Entry): Uint8Array {
  const bytes = encoded.metadata();
  if (annotations === undefined || !Object.hasOwn(annotations, LAST_APPLIED)) return bytes;
  const metadata = JSON.parse(Buffer.from(bytes).toString()) as ObjectMeta;
  return Buffer.from(JSON.stringify(trimmed(metadata)));
}

/**
 * Equal tags mean equal bytes: an object with this uid never has another state with this version, except for the annotations that we add.
 */
const tagOf = (hits: readonly KindHit<ScannedKind>[], end: string): string =>
  hash(
    'sha256',
    `${end}\n${hits
      .map(({ kind, entry: { uid, resourceVersion, encoded } }) =>
        [kind.name, kind.type.apiVersion, uid, resourceVersion, encoded.added].join(' '),
      )
      .join('\n')}`,
    'hex',
  ).slice(0, 32);
