import type { Steps } from '../../runtime/time-slices.ts';
import type { EncodedObject } from './encoded-object.ts';
import { GzipBody } from './gzip-body.ts';
import type { Encoded, Leaf } from './leaf.ts';
import type { Composer } from './representation.ts';

const OPENING = Buffer.from('{"items":[');
const COMMA = Buffer.from(',');

const closing = (total: number): Uint8Array => Buffer.from(`],"totalItems":${total}}`);

/** Bytes of a list of `count` items that have `itemBytes` in all. */
function listLength(itemBytes: number, { count, total }: { count: number; total: number }): number {
  return OPENING.length + itemBytes + Math.max(0, count - 1) + closing(total).length;
}

/** Hears of every gzip list that is composed; `partlyStored`: some leaves are in it uncompressed. */
type OnGzip = (outcome: { partlyStored: boolean }) => void;

/** All objects in the default order. */
interface FullList {
  readonly leaves: readonly Leaf[];
  readonly size: number;
}

/** Chosen objects in their order, and how many there are without the page. */
export interface Selection<Entry extends Encoded = Encoded> {
  readonly entries: readonly Entry[];
  /** After filters, before paging. */
  readonly total: number;
}

/** The whole list in the default order: the leaves as they are, one after the other. */
export function fullListComposer({ leaves, size }: FullList, onGzip: OnGzip): Composer {
  const itemBytes = leaves.reduce((sum, leaf) => sum + leaf.length, 0) - size;
  const length = listLength(itemBytes, { count: size, total: size });
  return {
    *identity() {
      const joined: Uint8Array[] = [];
      for (const [at, leaf] of leaves.entries()) {
        joined.push(at === 0 ? leaf.joined().subarray(1) : leaf.joined());
        yield;
      }
      return [OPENING, ...joined, closing(size)];
    },
    identityLength: () => length,
    *gzip() {
      const body = new GzipBody();
      body.addPlain(OPENING);
      for (const [at, leaf] of leaves.entries()) {
        body.addLeaf(leaf, { isFirst: at === 0 });
        yield;
      }
      body.addPlain(closing(size));
      onGzip(body);
      return body.end();
    },
  };
}

/** Chosen items, one behind the other. */
export function selectionComposer({ entries, total }: Selection): Composer {
  function* pieces(): Steps<readonly Uint8Array[]> {
    const items: Uint8Array[] = [OPENING];
    for (const [at, { encoded }] of entries.entries()) {
      if (at > 0) items.push(COMMA);
      items.push(encoded.bytes());
      yield;
    }
    items.push(closing(total));
    return items;
  }
  const itemBytes = entries.reduce((sum, { encoded }) => sum + encoded.length, 0);
  const length = listLength(itemBytes, { count: entries.length, total });
  return {
    identity: pieces,
    identityLength: () => length,
    *gzip() {
      return yield* gzipText(yield* pieces());
    },
  };
}

function* gzipText(text: readonly Uint8Array[]): Steps<readonly Uint8Array[]> {
  const body = new GzipBody();
  yield* body.addText(text);
  return body.end();
}

/** The item of a list with its type in front, as a get answers it: an item has members, so `typeMembers` ends in a comma. */
export function objectComposer(encoded: EncodedObject, typeMembers: Uint8Array): Composer {
  const text = (): readonly Uint8Array[] => [Buffer.concat([typeMembers, encoded.bytes().subarray(1)])];
  return {
    // biome-ignore lint/correctness/useYield: one object is one step
    *identity() {
      return text();
    },
    identityLength: () => typeMembers.length + encoded.length - 1,
    gzip: () => gzipText(text()),
  };
}
