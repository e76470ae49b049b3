import { expect, test } from 'vitest';
import { sharedChunk } from '../../../../src/http/watch/streamed-body.ts';

test('a chunk is its size in hexadecimal digits, its bytes, and line ends (RFC 9112 7.1)', () => {
  expect(sharedChunk(Buffer.from('x'.repeat(26))).toString()).toBe(`1a\r\n${'x'.repeat(26)}\r\n`);
});

test('the same bytes are framed once, in memory that all share', () => {
  const bytes = Buffer.from('event');
  expect(sharedChunk(bytes)).toBe(sharedChunk(bytes));
  expect(sharedChunk(Buffer.from('event'))).not.toBe(sharedChunk(bytes));
});
