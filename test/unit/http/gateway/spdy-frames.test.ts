import { describe, expect, test } from 'vitest';
import { failureFrame, readsFailures, spdyFrames } from '../../../../src/http/gateway/spdy-frames.ts';

const frameOf = (length: number): Buffer => {
  const header = Buffer.from([0, 0, 0, 5, 0, 0, 0, 0]);
  header.writeUIntBE(length, 5, 3);
  return Buffer.concat([header, Buffer.alloc(length, 'x')]);
};

describe('the frames of SPDY', () => {
  test.each([1, 3, 7, 8, 9, 1_000_000])('are told apart in pieces of %i bytes', (size) => {
    const lengths = [0, 1, 300, 70_000, 0];
    const bytes = Buffer.concat(lengths.map(frameOf));
    const frames = spdyFrames();
    const ends: number[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size);
      const firstEnd = frames.take(piece);
      if (firstEnd !== undefined) ends.push(at + firstEnd);
    }
    const all = lengths.map((_, at) => Buffer.concat(lengths.slice(0, at + 1).map(frameOf)).length);
    expect(frames.isBetween).toBe(true);
    expect(all).toEqual(expect.arrayContaining(ends));
    if (size === 1) expect(ends).toEqual(all);
  });

  test('are between two at the beginning, and not within a header or a content', () => {
    const frames = spdyFrames();
    expect(frames.isBetween).toBe(true);
    for (const byte of frameOf(2).subarray(0, 9)) {
      frames.take(Buffer.of(byte));
      expect(frames.isBetween).toBe(false);
    }
    expect(frames.take(Buffer.from('x'))).toBe(1);
  });

  test('have ours as the last of stream 1, with a Status', () => {
    const frame = failureFrame('the server is stopping');
    expect(spdyFrames().take(frame)).toBe(frame.length);
    expect([...frame.subarray(0, 5)]).toEqual([0, 0, 0, 1, 1]);
    expect(JSON.parse(frame.subarray(8).toString())).toEqual({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 500 },
      ...{ message: 'the server is stopping', reason: 'InternalError' },
    });
  });
});

test.each([
  ['v5.channel.k8s.io', true],
  ['v4.channel.k8s.io', true],
  ['v3.channel.k8s.io', false],
  [undefined, false],
])('a client of version %s reads a Status: %s', (version, reads) => {
  expect(readsFailures(version)).toBe(reads);
});
