import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWatchEvent } from '../../../src/kubernetes/watch-event.ts';

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
    fc.assert(fc.property(fc.string(), (line) => void parseWatchEvent(line)));
    fc.assert(fc.property(fc.json(), (line) => void parseWatchEvent(line)));
  });
});
