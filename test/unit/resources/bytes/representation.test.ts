import { describe, expect, test } from 'vitest';
import { type Composer, VersionedRepresentation } from '../../../../src/resources/bytes/representation.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { slowSlices } from '../../../support/steps.ts';

function representationOf(pieces: readonly Uint8Array[], slices = new TimeSlices({ monotonic: () => 0 })) {
  let composed = 0;
  function* compose() {
    composed++;
    yield;
    return pieces;
  }
  const composer: Composer = { identity: compose, gzip: compose, identityLength: () => 7 };
  return { representation: new VersionedRepresentation('e1-1', composer, slices), composed: () => composed };
}

describe('an answer at one version', () => {
  test.each([
    ['one piece up to 2 MiB', 2 ** 20, 1],
    ['sent in its pieces above', 2 ** 20 + 1, 2],
  ])('is %s', (_, bytes, count) => {
    const pieces = [Buffer.alloc(2 ** 20, 'a'), Buffer.alloc(bytes, 'b')];
    const { representation } = representationOf(pieces);
    expect(representation.body('identity').pieces).toHaveLength(count);
    expect(Buffer.concat(representation.body('identity').pieces).equals(Buffer.concat(pieces))).toBe(true);
    expect(representation.body('gzip').length).toBe(2 ** 20 + bytes);
  });

  test('has a known length where it is not compressed, without being composed', () => {
    const { representation, composed } = representationOf([Buffer.from('{}')]);
    expect([representation.identityLength, composed()]).toEqual([7, 0]);
    expect([representation.body('gzip').length, composed()]).toEqual([2, 1]);
  });

  test('of one piece is that piece, not a copy', () => {
    const piece = Buffer.from('{}');
    expect(representationOf([piece]).representation.body('identity').pieces[0]).toBe(piece);
  });

  test('that takes more than a slice is composed once for all who wait, each coding by itself', async () => {
    const { representation, composed } = representationOf([Buffer.from('{}')], slowSlices());
    const first = representation.compose('identity');
    expect(first).toBeInstanceOf(Promise);
    expect(representation.compose('identity')).toBe(first);
    expect(representation.compose('gzip')).not.toBe(first);
    await Promise.all([first, representation.compose('gzip')]);
    expect([representation.compose('identity'), representation.compose('gzip')]).toEqual([undefined, undefined]);
    expect(representation.body('identity').pieces).toEqual([Buffer.from('{}')]);
    expect(composed()).toBe(2);
  });

  test('that fits into the slice is there at once, without a promise', () => {
    const { representation, composed } = representationOf([Buffer.from('{}')]);
    expect(representation.compose('identity')).toBeUndefined();
    expect(representation.body('identity').pieces).toEqual([Buffer.from('{}')]);
    expect(composed()).toBe(1);
  });
});
