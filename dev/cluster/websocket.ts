import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Body, plainBody } from './body.ts';
import { isOldWatchPath, isTrue } from './request.ts';

/** Only watches can be upgraded to WebSocket here. The `Upgrade` header of any other request is ignored. */
export function isWebsocketWatch({ method, url = '/', headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  return isOldWatchPath(pathname) || isTrue(searchParams.get('watch'));
}

/** RFC 6455 section 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** A real server refuses a websocket that does not say where it comes from, or that offers more than one subprotocol. */
export function isAcceptable({ headers }: IncomingMessage): boolean {
  const { origin, 'sec-websocket-protocol': protocol } = headers;
  return origin !== undefined && origin !== 'null' && !protocol?.includes(',');
}

/** Accepts the upgrade. Each event is sent as one text frame. The one subprotocol that the client offers is accepted. */
export function openWebsocket({ headers }: IncomingMessage, socket: Duplex): Body {
  const { 'sec-websocket-key': key = '', 'sec-websocket-protocol': protocol } = headers;
  const accept = createHash('sha1').update(`${key}${ACCEPT_SUFFIX}`).digest('base64');
  const agreed = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  agreed.push(`Sec-WebSocket-Accept: ${accept}`, ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol}`] : []));
  socket.write(`${agreed.join('\r\n')}\r\n\r\n`);
  const body = plainBody(socket);
  socket.on('data', (piece: Buffer) => {
    if ((piece[0] ?? 0) % 16 === CLOSE) socket.end(frame(CLOSE, NORMAL));
  });
  socket.on('end', () => socket.end());
  return {
    ...body,
    write: (text) => body.write(frame(TEXT, Buffer.from(text))),
    end: () => socket.end(frame(CLOSE, NORMAL)),
  };
}

const TEXT = 1;
const CLOSE = 8;
/** Close code 1000: a normal end (RFC 6455 7.4.1). */
const NORMAL = Buffer.from([0x03, 0xe8]);

/** A frame that is a whole message, without a mask (RFC 6455 5.2). */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + size);
  head[0] = 0x80 + opcode;
  head[1] = size === 0 ? length : size === 2 ? 126 : 127;
  if (size === 2) head.writeUInt16BE(length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
