import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Answer, AnswerReader } from './answer-reader.ts';

/**
 * The port of a server, and the headers of every request to it. It is plain data, because it is sent to the load process.
 */
export interface Target {
  readonly port: number;
  /** PEM; with it the connection is TLS. */
  readonly ca?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One request. */
export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FullAnswer extends Answer {
  /** The status line and the headers. */
  readonly head: string;
  readonly content: Buffer;
}

const HOST = '127.0.0.1';
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * All connections read into this memory. A piece is counted before the next one is read, so no connection needs a buffer of its own.
 * A larger buffer was not faster.
 */
const INPUT = Buffer.allocUnsafe(64 * 1024);

/** The bytes of a request, made once and sent many times. */
export function requestBytes(target: Target, ask: Ask): Buffer {
  const headers = { host: `${HOST}:${target.port}`, ...target.headers, ...ask.headers };
  const length = ask.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(ask.body)) };
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${ask.method ?? 'GET'} ${ask.path} HTTP/1.1\r\n${lines.join('')}\r\n${ask.body ?? ''}`);
}

/** One keep-alive connection with at most one request in flight. */
export class Connection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #waiting: { resolve: (answer: Answer) => void; reject: (cause: Error) => void } | undefined;

  private constructor(target: Target, opened: () => void) {
    const onread = { buffer: INPUT, callback: (size: number) => this.#read(size) };
    const options = { host: HOST, port: target.port, onread };
    this.#socket = target.ca
      ? connectTls({ ...options, ca: target.ca }, opened)
      : connect({ ...options, noDelay: true }, opened);
    this.#socket.setTimeout(CONNECT_TIMEOUT_MS, () => this.#socket.destroy(new Error('cannot connect in time')));
    this.#socket.on('error', (cause) => this.#fail(cause));
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** Rejects when the server does not accept the connection within 5 s. */
  static open(target: Target): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(target, () => {
        connection.#waiting = undefined;
        connection.#socket.setTimeout(0);
        resolve(connection);
      });
      connection.#waiting = { resolve: () => undefined, reject };
    });
  }

  /** Sends one request, and counts the content of its answer. Rejects when the connection ends first. */
  exchange(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#socket.destroyed) this.#fail(new Error('the connection is closed'));
      else this.#socket.write(request);
    });
  }

  /** Does what `exchange` does, and keeps head and content. */
  async fetch(request: Buffer): Promise<FullAnswer> {
    const pieces: Buffer[] = [];
    this.#reader.sink = (piece) => pieces.push(Buffer.from(piece));
    try {
      const answer = await this.exchange(request);
      return { ...answer, head: this.#reader.lastHead, content: Buffer.concat(pieces) };
    } finally {
      this.#reader.sink = undefined;
    }
  }

  /** The status line and the headers of the last answer. */
  get lastHead(): string {
    return this.#reader.lastHead;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(size: number): boolean {
    try {
      const answer = this.#reader.push(INPUT.subarray(0, size));
      if (answer) this.#settle(answer);
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
    return true;
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (answer.last) this.#socket.destroy();
    waiting?.resolve(answer);
  }

  #fail(cause: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(cause);
  }
}
