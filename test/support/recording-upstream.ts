import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

/** One request as it was received. Each character is one byte. */
export interface Recorded {
  /** `GET /api HTTP/1.1`. */
  readonly line: string;
  /** Each name, followed by its value, as sent. */
  readonly headers: readonly string[];
  /** The body without the framing of chunks. */
  readonly body: string;
  readonly socket: Socket;
}

type Answer = (request: Recorded) => string | Buffer | undefined | Promise<string | Buffer | undefined>;

export const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

/** A complete answer with this body and its length. */
export const answerOf = (status: string, body: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/**
 * An API server that records the bytes of each request and answers with bytes. It parses only where a request ends, so no HTTP library
 * changes the headers that it records.
 */
export class RecordingUpstream {
  readonly requests: Recorded[] = [];
  /** Connections that were opened, and those that are open. */
  opened = 0;
  readonly open = new Set<Socket>();
  /** Whether a connection stays open after its client has ended its side. */
  staysHalfOpen = false;
  /** Returns the text to send for a request; `undefined`: nothing is sent, and the test may write to the socket itself. */
  answer: Answer = () => OK;
  /** Called when the head of a request has arrived, before its body is read. */
  onHead: (head: { readonly line: string; readonly socket: Socket }) => void = () => {};
  readonly #server: Server;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The last request. */
  get last(): Recorded {
    const last = this.requests.at(-1);
    if (!last) throw new Error('nothing was sent');
    return last;
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    this.opened += 1;
    this.open.add(socket);
    socket.on('end', () => this.staysHalfOpen || socket.end());
    socket.on('error', () => {}).once('close', () => this.open.delete(socket));
    const reader = new RequestReader(
      (line) => this.onHead({ line, socket }),
      (read) => void this.#came({ ...read, socket }),
    );
    socket.on('data', (chunk: Buffer) => reader.take(chunk.toString('latin1')));
  }

  async #came(request: Recorded): Promise<void> {
    this.requests.push(request);
    const answer = await this.answer(request);
    if (answer !== undefined && !request.socket.destroyed) request.socket.write(answer, 'latin1');
  }
}

type Head = Pick<Recorded, 'line' | 'headers'>;
type Read = Omit<Recorded, 'socket'>;

/** Finds where requests end (RFC 9112 6.3). After an upgrade it stops, because what follows is not HTTP. */
class RequestReader {
  #text = '';
  #head: Head | undefined;
  #isUpgraded = false;
  readonly #onHead: (line: string) => void;
  readonly #onRequest: (read: Read) => void;

  constructor(onHead: (line: string) => void, onRequest: (read: Read) => void) {
    this.#onHead = onHead;
    this.#onRequest = onRequest;
  }

  take(text: string): void {
    if (this.#isUpgraded) return;
    this.#text += text;
    while (this.#readHead() && this.#readBody());
  }

  #readHead(): boolean {
    if (this.#head) return true;
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...fields] = this.#text.slice(0, end).split('\r\n');
    const headers = fields.flatMap((field) => [
      field.slice(0, field.indexOf(':')),
      field.slice(field.indexOf(':') + 1).trim(),
    ]);
    this.#head = { line, headers };
    this.#text = this.#text.slice(end + 4);
    this.#onHead(line);
    return true;
  }

  #readBody(): boolean {
    const { line, headers } = this.#head as Head;
    const body = firstOf(headers, 'transfer-encoding') ? this.#chunks() : this.#counted(headers);
    if (body === undefined) return false;
    this.#head = undefined;
    this.#isUpgraded = firstOf(headers, 'upgrade') !== undefined;
    this.#onRequest({ line, headers, body });
    return !this.#isUpgraded;
  }

  #counted(headers: readonly string[]): string | undefined {
    const length = Number(firstOf(headers, 'content-length') ?? 0);
    if (this.#text.length < length) return undefined;
    const body = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return body;
  }

  #chunks(): string | undefined {
    let at = 0;
    let body = '';
    for (;;) {
      const line = this.#text.indexOf('\r\n', at);
      if (line < 0) return undefined;
      const size = Number.parseInt(this.#text.slice(at, line), 16);
      const end = line + 2 + size + 2;
      if (this.#text.length < end) return undefined;
      body += this.#text.slice(line + 2, line + 2 + size);
      at = end;
      if (size > 0) continue;
      this.#text = this.#text.slice(at);
      return body;
    }
  }
}

/** The first value of a header, by its lower-case name. */
export function firstOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}

/** All values of a header. */
export const valuesOf = (headers: readonly string[], name: string): string[] =>
  headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name);
