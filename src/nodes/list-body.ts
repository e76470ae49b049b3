import { GzipBody } from './gzip-body.ts';
import type { NodeSnapshot, Selection } from './node-snapshot.ts';
import type { Composer } from './representation.ts';

const OPENING = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');
/** Items are copied into pieces of about this size: few enough to write, small enough to allocate and deflate one by one. */
const PIECE_BYTES = 2 ** 18;

const closing = (total: number): Uint8Array => Buffer.from(`],"totalItems":${total}}`);

/** Bytes of a list of `count` items that have `itemBytes` in all. */
function listLength(itemBytes: number, { count, total }: { count: number; total: number }): number {
  return OPENING.length + itemBytes + Math.max(0, count - 1) + closing(total).length;
}

/** Hears of every gzip list that is composed; `partlyStored`: some leaves are in it uncompressed. */
type OnGzip = (outcome: { partlyStored: boolean }) => void;

/** The whole list in the default order: the leaves as they are, one after the other. */
export function fullListComposer({ leaves, size }: NodeSnapshot, onGzip: OnGzip): Composer {
  return {
    identity: () => {
      const joined = leaves.map((leaf, at) => (at === 0 ? leaf.joined().subarray(1) : leaf.joined()));
      return [OPENING, ...joined, closing(size)];
    },
    identityLength: () => {
      const itemBytes = leaves.reduce((sum, leaf) => sum + leaf.length, 0) - size;
      return listLength(itemBytes, { count: size, total: size });
    },
    gzip: () => {
      const body = new GzipBody();
      body.addPlain(OPENING);
      for (const [at, leaf] of leaves.entries()) body.addLeaf(leaf, { isFirst: at === 0 });
      body.addPlain(closing(size));
      onGzip(body);
      return body.end();
    },
  };
}

/** Chosen items, copied one behind the other. */
export function selectionComposer(selection: Selection): Composer {
  const { entries, total } = selection;
  return {
    identity: () => joinItems(selection),
    identityLength: () => {
      const itemBytes = entries.reduce((sum, { encoded }) => sum + encoded.length, 0);
      return listLength(itemBytes, { count: entries.length, total });
    },
    gzip: () => gzipPieces(joinItems(selection)),
  };
}

export function gzipPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const body = new GzipBody();
  for (const piece of pieces) body.addText(piece);
  return body.end();
}

function joinItems({ entries, total }: Selection): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let parts: Uint8Array[] = [OPENING];
  let length = 0;
  for (const [at, { encoded }] of entries.entries()) {
    if (at > 0) parts.push(COMMA);
    parts.push(encoded.bytes());
    length += encoded.length;
    if (length < PIECE_BYTES) continue;
    pieces.push(Buffer.concat(parts));
    parts = [];
    length = 0;
  }
  pieces.push(Buffer.concat([...parts, closing(total)]));
  return pieces;
}
