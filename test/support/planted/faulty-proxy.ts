import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';

// biome-ignore lint/suspicious/noExplicitAny: answers are changed in places that each fault knows
export type Json = any;

/** The URL of a request, and its headers, each with all its values. */
interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The mistakes of the server under test. A member that is left out means no such mistake. */
export interface Fault {
  /** Replaces a request. */
  request?(request: Asked): Asked;
  /** Replaces an answer. Its body is uncompressed JSON. */
  answer?(answer: { readonly status: number; readonly body: Json }): { readonly status: number; readonly body: Json };
  /** Replaces a watch event; `undefined` drops it. */
  event?(event: Json): Json | undefined;
}

export interface FaultyProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes all requests to the server at `target` (plain HTTP), and applies the fault to requests and answers. */
export async function startFaultyProxy(target: string, fault: Fault): Promise<FaultyProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, headersDistinct, url: path = '/' } = incoming;
    const sent = { url: path, headers: withPlainValues(headersDistinct) };
    const { url, headers } = fault.request?.(sent) ?? sent;
    const onward = request(`${target}${url}`, { method, headers }, (answer) => void pass(answer, outgoing, fault));
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('upgrade', (incoming, socket) => passUpgrade(target, incoming, socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Turns lists with one value into texts, because Node.js reads the length of a body only from a text. */
const withPlainValues = (headers: IncomingMessage['headersDistinct']): Asked['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values?.length === 1 ? values[0] : values]),
  );

async function pass(answer: IncomingMessage, outgoing: ServerResponse, fault: Fault): Promise<void> {
  answer.on('error', () => outgoing.destroy());
  const { statusCode: status = 0, headers } = answer;
  const isJson = headers['content-type']?.startsWith('application/json') && !headers['content-encoding'];
  const isStream = headers['transfer-encoding'] === 'chunked' && headers['content-length'] === undefined;
  if (isJson && isStream && fault.event) return passEvents(answer, outgoing, fault.event);
  if (!isJson || isStream || !fault.answer) {
    outgoing.writeHead(status, headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    return;
  }
  const bytes = await buffer(answer);
  const given = bytes.length === 0 ? undefined : JSON.parse(bytes.toString());
  const changed = given === undefined ? { status, body: given } : fault.answer({ status, body: given });
  const body = changed.body === given ? bytes : JSON.stringify(changed.body); // an unchanged body keeps its layout
  outgoing.writeHead(changed.status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Passes on an upgrade and its answer without a fault. */
function passUpgrade(target: string, { url, headersDistinct }: IncomingMessage, socket: Duplex): void {
  const onward = request(`${target}${url}`, { headers: withPlainValues(headersDistinct) });
  const cut = (): void => void socket.destroy();
  const begin = ({ statusCode, rawHeaders }: IncomingMessage): void => {
    socket.write(`HTTP/1.1 ${statusCode} Passed on\r\n`);
    for (let at = 0; at < rawHeaders.length; at += 2) socket.write(`${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`);
    socket.write('\r\n');
  };
  onward.on('error', cut).on('response', (answer) => {
    begin(answer);
    answer.on('error', cut).pipe(socket);
  });
  onward.on('upgrade', (answer, other, head) => {
    begin(answer);
    socket.write(head);
    other.on('error', cut).pipe(socket).on('error', cut).pipe(other);
  });
  socket.on('error', cut).on('close', () => onward.destroy());
  onward.end();
}

async function passEvents(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  change: NonNullable<Fault['event']>,
): Promise<void> {
  outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
  outgoing.flushHeaders();
  for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })) {
    const changed = change(JSON.parse(line));
    if (changed !== undefined) outgoing.write(`${JSON.stringify(changed)}\n`);
  }
  outgoing.end();
}
