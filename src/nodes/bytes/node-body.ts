import type { EncodedNode } from './encoded-object.ts';
import { gzipText } from './list-body.ts';
import type { Composer } from './representation.ts';

/** The get answers the list item with these two members in front; an item has members, so a comma follows. */
const OPENING = Buffer.from('{"kind":"Node","apiVersion":"v1",');

export function nodeComposer(encoded: EncodedNode): Composer {
  const text = (): readonly Uint8Array[] => [Buffer.concat([OPENING, encoded.bytes().subarray(1)])];
  return {
    // biome-ignore lint/correctness/useYield: one node is one step
    *identity() {
      return text();
    },
    identityLength: () => OPENING.length + encoded.length - 1,
    gzip: () => gzipText(text()),
  };
}
