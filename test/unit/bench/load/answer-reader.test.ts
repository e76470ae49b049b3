import { describe, expect, test } from 'vitest';
import { AnswerReader } from '../../../../bench/load/answer-reader.ts';

const read = (...pieces: string[]) => {
  const reader = new AnswerReader();
  const content: string[] = [];
  reader.sink = (piece) => content.push(piece.toString('latin1'));
  const answers = pieces.map((piece) => reader.push(Buffer.from(piece, 'latin1')));
  return { answers, content: content.join('') };
};

const SIZED = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello';
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nExpires: never\r\n\r\n';

describe('answer reader', () => {
  test.each([
    ['a sized', SIZED],
    ['a chunked', CHUNKED],
  ])('finds the end of %s answer wherever it is cut', (_, text) => {
    for (let cut = 1; cut < text.length; cut++) {
      const { answers, content } = read(text.slice(0, cut), text.slice(cut));
      expect({ cut, answers, content }).toEqual({
        cut,
        answers: [undefined, { status: 200, bytes: 5, last: false }],
        content: 'hello',
      });
    }
  });

  test.each([
    ['a sized', SIZED],
    ['a chunked', CHUNKED],
  ])('finds the end of %s answer that comes byte by byte', (_, text) => {
    const { answers, content } = read(...text);
    expect(answers.filter(Boolean)).toEqual([{ status: 200, bytes: 5, last: false }]);
    expect(answers.at(-1)).toBeDefined();
    expect(content).toBe('hello');
  });

  test('counts each answer of a connection by itself', () => {
    expect(read(SIZED, CHUNKED, SIZED).answers).toEqual(Array(3).fill({ status: 200, bytes: 5, last: false }));
  });

  test('takes an answer without content', () => {
    const empty = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
    expect(read(empty, 'HTTP/1.1 304 Not Modified\r\n\r\n').answers).toEqual([
      { status: 503, bytes: 0, last: true },
      { status: 304, bytes: 0, last: false },
    ]);
  });

  test.each([
    ['another protocol', 'SSH-2.0-x\r\n\r\n', 'the answer is not HTTP/1.1'],
    ['an answer that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\n', 'the answer has no length'],
    ['more than was asked for', `${SIZED}H`, 'bytes follow an answer that no request asked for'],
    [
      'a chunk without size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n',
      'a chunk of the answer has no size',
    ],
    ['a head without end', 'a'.repeat(70_000), 'the head of the answer does not end'],
  ])('refuses %s', (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
