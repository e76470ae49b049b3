import { GzipBody } from './gzip-body.ts';
import type { NodeSnapshot, Selection } from './node-snapshot.ts';
import type { Composer } from './representation.ts';

const OPENING = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');
/** Up to here items are copied into one piece: a short body is one write. Longer ones are sent from where they lie. */
const LONGEST_COPY_BYTES = 2 ** 18;

const closing = (total: number): Uint8Array => Buffer.from(`],"totalItems":${total}}`);

/** Bytes of a list of `count` items that have `itemBytes` in all. */
function listLength(itemBytes: number, { count, total }: { count: number; total: number }): number {
  return OPENING.length + itemBytes + Math.max(0, count - 1) + closing(total).length;
}

/** Hears of every gzip list that is composed; `partlyStored`: some leaves are in it uncompressed. */
type OnGzip = (outcome: { partlyStored: boolean }) => void;

/** The whole list in the default order: the leaves as they are, one after the other. */
export function fullListComposer({ leaves, size }: NodeSnapshot, onGzip: OnGzip): Composer {
  const itemBytes = leaves.reduce((sum, leaf) => sum + leaf.length, 0) - size;
  const length = listLength(itemBytes, { count: size, total: size });
  return {
    identity: () => {
      const joined = leaves.map((leaf, at) => (at === 0 ? leaf.joined().subarray(1) : leaf.joined()));
      return [OPENING, ...joined, closing(size)];
    },
    identityLength: () => length,
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

/** Chosen items, one behind the other. */
export function selectionComposer({ entries, total }: Selection): Composer {
  const pieces = (): readonly Uint8Array[] => [
    OPENING,
    ...entries.flatMap(({ encoded }, at) => (at === 0 ? [encoded.bytes()] : [COMMA, encoded.bytes()])),
    closing(total),
  ];
  const itemBytes = entries.reduce((sum, { encoded }) => sum + encoded.length, 0);
  const length = listLength(itemBytes, { count: entries.length, total });
  return {
    identity: () => (length <= LONGEST_COPY_BYTES ? [Buffer.concat(pieces())] : pieces()),
    identityLength: () => length,
    gzip: () => gzipText(pieces()),
  };
}

export function gzipText(text: readonly Uint8Array[]): readonly Uint8Array[] {
  const body = new GzipBody();
  body.addText(text);
  return body.end();
}
