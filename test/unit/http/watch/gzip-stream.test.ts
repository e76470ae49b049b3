import { constants, createGunzip, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GzipStream } from '../../../../src/http/watch/gzip-stream.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';

/** The whole body of a stream that was sent these texts. */
function bodyOf(texts: readonly Uint8Array[]): Buffer {
  const stream = new GzipStream();
  return Buffer.concat([stream.head, ...texts.map((text) => stream.add(text)), stream.end()]);
}

describe('a gzip stream', () => {
  test('is one member, with a right checksum and length, of any pieces', () => {
    // Up to 200 kB: three windows of deflate; a batch of a watch is 64 KiB and one node.
    const long = (length: number): Uint8Array => new Uint8Array(length).fill(length % 251);
    const piecesOf = ({ upTo, isLargest }: Sizes) => {
      const short = fc.uint8Array(upTo(400, 1));
      const piece = fc.oneof(
        { weight: 3, arbitrary: short },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 200_000 }).map(long) },
      );
      return isLargest
        ? fc.array(short, upTo(37)).map((pieces) => [...[198_000, 199_000, 200_000].map(long), ...pieces])
        : fc.array(piece, upTo(40));
    };
    const pieces = new Largest('a gzip stream', 'pieces');
    const bytes = new Largest('a gzip stream', 'bytes');
    const propertyOf = (sizes: Sizes) =>
      fc.property(piecesOf(sizes), (texts) => {
        const plain = Buffer.concat(texts);
        expect(gunzipSync(bodyOf(texts)).equals(plain)).toBe(true);
        pieces.see(texts.length);
        bytes.see(plain.length);
      });
    checkSizes(propertyOf, { cases: 50, short: 20 });
    pieces.expectAtLeast(40);
    bytes.expectAtLeast(597_000);
  });

  test('gives all of a piece to a reader that has all up to it', async () => {
    const stream = new GzipStream();
    const reader = createGunzip({ flush: constants.Z_SYNC_FLUSH });
    const told: string[] = [];
    reader.on('data', (data: Buffer) => told.push(data.toString()));
    const write = (bytes: Uint8Array) => new Promise((done) => reader.write(bytes, done));
    await write(stream.head);
    for (const text of ['one', 'two', 'two']) {
      await write(stream.add(Buffer.from(text)));
      expect(told.at(-1)).toBe(text);
    }
    expect(told).toEqual(['one', 'two', 'two']);
  });

  test('compresses the same bytes once, whatever each was sent before', () => {
    const [one, other] = [new GzipStream(), new GzipStream()];
    one.add(Buffer.from('something else'));
    const batch = Buffer.from('the batch of all');
    expect(one.add(batch)).toBe(other.add(batch));
  });
});
