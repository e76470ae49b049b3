import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combineCrc32, crcShift, cutText } from '../../../../src/resources/bytes/deflated-piece.ts';
import { Leaf } from '../../../../src/resources/bytes/leaf.ts';
import { GzipBody, gzipEnd } from '../../../../src/resources/bytes/list-body.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';
import { makeNode, toNodeEntry } from '../node-objects.ts';

describe('crc32 of joined texts', () => {
  test('follows from those of the parts', () => {
    const largest = new Largest('crc32 of joined texts', 'bytes');
    checkSizes(({ upTo }) =>
      fc.property(fc.uint8Array(upTo(3_000)), fc.uint8Array(upTo(3_000)), (a, b) => {
        expect(combineCrc32(crc32(a), crc32(b), crcShift(b.length))).toBe(crc32(Buffer.concat([a, b])));
        largest.see(b.length);
      }),
    );
    largest.expectAtLeast(3_000);
  });

  test('holds for long parts', () => {
    const long = Buffer.alloc(5_000_003, 'abc');
    expect(combineCrc32(crc32('x'), crc32(long), crcShift(long.length))).toBe(
      crc32(Buffer.concat([Buffer.from('x'), long])),
    );
  });
});

test('a text in parts is cut into stretches of one length, across the parts and within them', () => {
  const parts = ['abc', 'defghijk', '', 'l'].map((text) => Buffer.from(text));
  const cut = [...cutText(parts, 5)].map((stretch) => [Buffer.concat(stretch.parts).toString(), stretch.length]);
  expect(cut).toEqual([
    ['abcde', 5],
    ['fghij', 5],
    ['kl', 2],
  ]);
  expect([...cutText([Buffer.from('abcde')], 5)]).toHaveLength(1);
});

describe('gzip body', () => {
  const leafOf = (kilobytes: number) =>
    new Leaf([toNodeEntry(makeNode('n', {}, { spec: { note: 'ab'.repeat(512 * kilobytes) } }))]);

  test('is one valid member of plain, compressed and stored parts', () => {
    const partsOf = ({ upTo }: Sizes) =>
      fc.array(fc.record({ text: fc.string(upTo(200)), isPlain: fc.boolean() }), upTo(40));
    const largest = new Largest('a gzip body of parts', 'parts');
    checkSizes((sizes) =>
      fc.property(partsOf(sizes), (pieces) => {
        const body = new GzipBody();
        for (const { text, isPlain } of pieces)
          isPlain ? body.addPlain(Buffer.from(text)) : atOnce(body.addText([Buffer.from(text)]));
        expect(gunzipSync(Buffer.concat(body.end())).toString()).toBe(pieces.map(({ text }) => text).join(''));
        largest.see(pieces.length);
      }),
    );
    largest.expectAtLeast(40);
  });

  test('names no time, name or system, so that the same text is the same bytes', () => {
    const [header] = new GzipBody().end();
    expect(Buffer.from(header ?? []).toString('hex')).toBe('1f8b08000000000000ff');
  });

  test('ends with the checksum and the length of the text, of which 4 GiB and more tell the rest', () => {
    const hex = (length: number) => Buffer.concat(gzipEnd(0x04030201, length)).toString('hex');
    expect([5, 2 ** 32 - 1, 2 ** 32 + 5].map(hex)).toEqual(
      ['05000000', 'ffffffff', '05000000'].map((end) => `030001020304${end}`),
    );
  });

  test('compresses 2 MiB an answer at most and stores the rest', () => {
    const leaves = [1000, 1000, 1000, 1].map(leafOf);
    const body = new GzipBody();
    for (const [at, leaf] of leaves.entries()) body.addLeaf(leaf, { isFirst: at === 0 });
    expect(leaves.map((leaf) => leaf.isDeflated)).toEqual([true, true, false, true]);
    expect(body.partlyStored).toBe(true);
    const plain = Buffer.concat(leaves.map((leaf) => leaf.joined())).subarray(1);
    expect(gunzipSync(Buffer.concat(body.end())).equals(plain)).toBe(true);
  });

  test('leaves that are deflated already cost nothing of it', () => {
    const leaves = [1000, 1000, 1000, 1000].map(leafOf);
    for (const leaf of leaves) leaf.deflated();
    const body = new GzipBody();
    for (const [at, leaf] of leaves.entries()) body.addLeaf(leaf, { isFirst: at === 0 });
    expect(body.partlyStored).toBe(false);
    const plain = Buffer.concat(leaves.map((leaf) => leaf.joined())).subarray(1);
    expect(gunzipSync(Buffer.concat(body.end())).equals(plain)).toBe(true);
  });

  test('a leaf beyond the whole budget is compressed when it comes first', () => {
    const body = new GzipBody();
    body.addLeaf(leafOf(3000), { isFirst: true });
    expect(body.partlyStored).toBe(false);
  });
});
