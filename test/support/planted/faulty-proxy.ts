import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';

// biome-ignore lint/suspicious/noExplicitAny: answers are changed in places that each fault knows
export type Json = any;

/** The mistakes of the server under test. A member that is left out means no such mistake. */
export interface Fault {
  /** Another answer for this one; its body is JSON and was not sent compressed. */
  answer?(answer: { readonly status: number; readonly body: Json }): { readonly status: number; readonly body: Json };
  /** Another watch event; `undefined`: none. */
  event?(event: Json): Json | undefined;
}

export interface FaultyProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes everything to the server at `target` (plain HTTP), and plants the fault in what comes back. */
export async function startFaultyProxy(target: string, fault: Fault): Promise<FaultyProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const onward = request(`${target}${url}`, { method, headers }, (answer) => void pass(answer, outgoing, fault));
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
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
  const changed = fault.answer({ status, body: JSON.parse((await buffer(answer)).toString()) });
  const body = JSON.stringify(changed.body);
  outgoing.writeHead(changed.status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
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
