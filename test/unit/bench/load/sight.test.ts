import { describe, expect, test } from 'vitest';
import { Needle, Sight } from '../../../../bench/load/sight.ts';
import { GzipStream } from '../../../../src/http/watch/gzip-stream.ts';

const HEAD = Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n');

const chunk = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

describe('what a watcher looks for', () => {
  test('is found as it is in a plain stream, over the border of two pieces as well', () => {
    const needle = new Needle('wanted', 'identity');
    expect(needle.isIn(Buffer.from('…wan'), 0)).toBe(false);
    expect(needle.isIn(Buffer.from('wanted…'), 3)).toBe(true);
  });

  test('is found in gzip by the first, and by the others in the bytes of that chunk', () => {
    const stream = new GzipStream();
    const [other, one] = ['{"type":"BOOKMARK"}', '{"name":"wanted"}'].map((text) => stream.add(Buffer.from(text)));
    const needle = new Needle('wanted', 'gzip');
    expect(needle.isIn(Buffer.concat([HEAD, chunk(stream.head), chunk(other as Uint8Array)]), 0)).toBe(false);
    const piece = Buffer.concat([Buffer.from('tail'), chunk(other as Uint8Array), chunk(one as Uint8Array)]);
    expect(needle.isIn(piece, 4)).toBe(true);
    expect(needle.isIn(chunk(one as Uint8Array).subarray(-60), 0)).toBe(true);
    expect(needle.isIn(chunk(other as Uint8Array), 0)).toBe(false);
  });

  test('is counted anew for each', () => {
    const sight = new Sight();
    sight.next(new Needle('one', 'identity'));
    sight.found();
    sight.found();
    expect([sight.seen, sight.firstAt <= sight.lastAt]).toEqual([2, true]);
    sight.next(new Needle('two', 'identity'));
    expect(sight.seen).toBe(0);
  });
});
