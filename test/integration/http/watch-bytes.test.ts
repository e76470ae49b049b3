import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from './app-under-test.ts';
import { LIST, pass, start } from './watch-under-test.ts';

describe('the bytes of a watch', () => {
  const LINES = /^(?:\{"type":"ADDED","object":.*\}\n){2}\{"type":"BOOKMARK","object":.*\}\n$/;
  const ask = (version: string) =>
    `GET ${LIST}?watch=1&timeoutSeconds=1 HTTP/${version}\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`;

  /** Everything that comes for this request, until the server closes. */
  async function answerTo(request: string): Promise<[head: string, body: string]> {
    const { app, clock } = await start();
    const socket = connect(app.port, '127.0.0.1');
    atEnd(() => socket.destroy());
    const received = { text: '', ended: false };
    socket.setEncoding('latin1').on('data', (text) => {
      received.text += text;
    });
    socket.on('end', () => {
      received.ended = true;
    });
    socket.write(request);
    await eventually(() => received.text.includes('BOOKMARK'));
    await pass(clock, () => received.ended);
    const at = received.text.indexOf('\r\n\r\n');
    return [received.text.slice(0, at), received.text.slice(at + 4)];
  }

  test('are chunks, the last of them empty', async () => {
    const [head, body] = await answerTo(ask('1.1'));
    expect(head).toContain('\r\nTransfer-Encoding: chunked');
    const chunks: string[] = [];
    let rest = body;
    while (rest !== '' && chunks.at(-1) !== '') {
      const [line = '', size = ''] = /^([0-9a-f]+)\r\n/.exec(rest) ?? [];
      const end = line.length + Number.parseInt(size, 16);
      chunks.push(rest.slice(line.length, end));
      expect(rest.slice(end, end + 2)).toBe('\r\n');
      rest = rest.slice(end + 2);
    }
    expect([chunks.length, chunks.at(-1), rest]).toEqual([4, '', '']);
    expect(chunks.slice(0, 2).join('')).toMatch(LINES);
    expect(chunks[2]).toMatch(/^\{"type":"BOOKMARK",.*\}\n$/); // where to go on, at the end
  });

  test('are bare lines for HTTP/1.0, which knows no chunks', async () => {
    const [head, body] = await answerTo(ask('1.0'));
    expect(head).not.toContain('Transfer-Encoding');
    expect(body.split('\n').map((line) => line.slice(0, 16))).toEqual([
      '{"type":"ADDED",',
      '{"type":"ADDED",',
      '{"type":"BOOKMAR',
      '{"type":"BOOKMAR',
      '',
    ]);
  });
});
