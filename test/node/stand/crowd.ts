import { connect, type Socket } from 'node:net';

/** Requests that never arrive in full: the headers, or the body. */
export const TRICKLED = [
  'GET /version HTTP/1.1\r\nHost: a\r\nX: ',
  'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\na=',
];

/** How much of a connection's first bytes is kept. */
const BEGINNING_BYTES = 64;
/** More than any wanted text has: a text may come in two pieces. */
const TAIL_BYTES = 64;

interface Member {
  readonly socket: Socket;
  beginning: string;
  tail: string;
  /** The last wanted text that it has got. */
  got?: string;
}

interface Wanted {
  readonly text: string;
  left: number;
  resolve(): void;
  reject(error: Error): void;
}

/** Many clients of one server, each with a connection of its own. What they read is searched and forgotten. */
export class Crowd {
  readonly #url: URL;
  readonly #reads: boolean;
  readonly #members: Member[] = [];
  /** All read into this memory: each piece is searched before the next is read. */
  readonly #memory = Buffer.allocUnsafe(64 * 1024);
  #wanted: Wanted | undefined;

  constructor(url: string, { reads = true } = {}) {
    this.#url = new URL(url);
    this.#reads = reads;
  }

  /** Connects and sends this. */
  add(text: string): void {
    const onread = { buffer: this.#memory, callback: (length: number) => this.#read(member, length) };
    const { hostname: host, port } = this.#url;
    // Without a reader the kernel takes what fits into its memory, and no more.
    const socket = connect({ host, port: Number(port), ...(this.#reads ? { onread } : {}) }, () => socket.write(text));
    socket.on('error', () => {});
    const member: Member = { socket, beginning: '', tail: '' };
    socket.on('close', () => this.#lost(member));
    this.#members.push(member);
  }

  get(path: string, token: string): void {
    this.add(`GET ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  }

  /**
   * Resolves when so many of them have got this text, counted from now on. Rejects when one of them is refused or its
   * connection ends before that, and tells how its answer began: it would be waited for in vain.
   */
  have(count: number, text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wanted = { text, left: count, resolve, reject };
    return promise;
  }

  /** Resolves when the server has closed every connection. */
  async ended(): Promise<void> {
    const left = this.#members.filter(({ socket }) => !socket.closed);
    await Promise.all(left.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))));
  }

  /** How many connections are open. */
  get open(): number {
    return this.#members.filter(({ socket }) => socket.readyState === 'open').length;
  }

  /** How each answer began. */
  get beginnings(): readonly string[] {
    return this.#members.map(({ beginning }) => beginning);
  }

  leave(): void {
    for (const { socket } of this.#members) socket.destroy();
  }

  #read(member: Member, length: number): boolean {
    const text = member.tail + this.#memory.toString('latin1', 0, length);
    member.tail = text.slice(-TAIL_BYTES);
    if (member.beginning.length < BEGINNING_BYTES)
      member.beginning = (member.beginning + text).slice(0, BEGINNING_BYTES);
    if (!isAccepted(member.beginning)) this.#lost(member);
    const wanted = this.#wanted;
    if (!wanted || member.got === wanted.text || !text.includes(wanted.text)) return true;
    member.got = wanted.text;
    if (--wanted.left > 0) return true;
    this.#wanted = undefined;
    wanted.resolve();
    return true;
  }

  #lost({ beginning }: Member): void {
    const wanted = this.#wanted;
    wanted?.reject(new Error(`refused or ended while ${wanted.left} were without ${wanted.text}: ${beginning}`));
  }
}

const ACCEPTED = 'HTTP/1.1 200 ';

/** Whether the answer is 200, as far as it is there. */
const isAccepted = (beginning: string): boolean => ACCEPTED.startsWith(beginning.slice(0, ACCEPTED.length));
