import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Json } from './api-client.ts';
import type { ConformanceTarget } from './target.ts';

interface WebsocketAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The body of a refusal. */
  readonly text: string;
  /** The text frames until the close frame, parsed as JSON. */
  readonly events: readonly Json[];
  /** The code with which the server closed. */
  readonly closedWith: number | undefined;
}

/** The key of RFC 6455 section 1.3. */
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Opens a WebSocket, and reads it until the server closes it. Sends nothing. */
export async function openWebsocket(
  { url, caFile, token }: Pick<ConformanceTarget, 'url' | 'caFile' | 'token'>,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<WebsocketAnswer> {
  const send = url.startsWith('https') ? httpsRequest : httpRequest;
  const ca = caFile && (await readFile(caFile, 'utf8'));
  const headers = { ...UPGRADE, authorization: `Bearer ${token}`, ...more };
  return new Promise((resolve, reject) => {
    const request = send(url + path, { headers, agent: false, ...(ca && { ca }) });
    request.on('error', reject);
    request.on('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, events: [], closedWith: undefined });
    });
    request.on('upgrade', (response, socket, head) => {
      const pieces: Buffer[] = [head];
      socket.on('error', reject).on('data', (piece: Buffer) => pieces.push(piece));
      socket.on('end', () => {
        socket.destroy();
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, headers, text: '', ...framesIn(Buffer.concat(pieces)) });
      });
    });
    request.end();
  });
}

/** Parses the frames of a server (RFC 6455 5.2): whole messages without a mask. */
function framesIn(bytes: Buffer): Pick<WebsocketAnswer, 'events' | 'closedWith'> {
  const events: Json[] = [];
  let closedWith: number | undefined;
  for (let at = 0; at < bytes.length; ) {
    const opcode = bytes[at]! & 0x0f;
    const short = bytes[at + 1]!;
    const start = at + 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? bytes.readUInt32BE(at + 6) : short;
    const payload = bytes.subarray(start, start + length);
    if (opcode === 1) events.push(JSON.parse(payload.toString()));
    if (opcode === 8 && length >= 2) closedWith = payload.readUInt16BE(0);
    at = start + length;
  }
  return { events, closedWith };
}
