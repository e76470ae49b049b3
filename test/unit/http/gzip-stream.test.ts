import { constants, createGunzip, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GzipStream } from '../../../src/http/watch/gzip-stream.ts';

/** The whole body of a stream that was sent these texts. */
function bodyOf(texts: readonly Uint8Array[]): Buffer {
  const stream = new GzipStream();
  return Buffer.concat([stream.head, ...texts.map((text) => stream.add(text)), stream.end()]);
}

describe('a gzip stream', () => {
  test('is one member, with a right checksum and length, of any pieces', () => {
    // Up to 200 kB: three windows of deflate; a batch of a watch is 64 KiB and one node.
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 400, size: 'max' }) },
      { weight: 1, arbitrary: fc.nat(199_999).map((length) => new Uint8Array(length + 1).fill(length % 251)) },
    );
    const largest = { pieces: 0, bytes: 0 };
    const property = fc.property(fc.array(piece, { maxLength: 40, size: 'max' }), (texts) => {
      const plain = Buffer.concat(texts);
      expect(gunzipSync(bodyOf(texts)).equals(plain)).toBe(true);
      largest.pieces = Math.max(largest.pieces, texts.length);
      largest.bytes = Math.max(largest.bytes, plain.length);
    });
    fc.assert(property, { numRuns: 50 });
    expect(largest.pieces).toBeGreaterThan(30);
    expect(largest.bytes).toBeGreaterThan(500_000);
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
