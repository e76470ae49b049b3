import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWatchEvent } from '../../../../src/kubernetes/reflector/event-decoder.ts';
import { Largest } from '../../../support/largest.ts';
import { check, checkSizes } from '../../../support/property.ts';

describe('watch event', () => {
  test('is read from its line', () => {
    const line = '{"type":"ADDED","object":{"metadata":{"name":"a"}}}';
    expect(parseWatchEvent(line)).toEqual({ type: 'ADDED', object: { metadata: { name: 'a' } } });
  });

  test.each(['', '{', 'garbage', 'null', '7', '"text"', '[]', '{}', '{"type":"ADDED"}', '{"type":1,"object":{}}'])(
    'C-15 is not read from %j',
    (line) => expect(parseWatchEvent(line)).toBeUndefined(),
  );

  test('is never read by throwing', () => {
    const largest = new Largest('a watch event', 'characters');
    const read = (line: string): void => {
      largest.see(line.length);
      parseWatchEvent(line);
    };
    checkSizes(({ upTo }) => fc.property(fc.string(upTo(2_000)), read));
    check(fc.property(fc.json({ maxDepth: 6 }), read));
    largest.expectAtLeast(2_000);
  });
});
