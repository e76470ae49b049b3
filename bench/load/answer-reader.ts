/** The parts of an HTTP answer that a load generator needs. */
export interface Answer {
  readonly status: number;
  /** Bytes of content, without the framing of chunks. */
  readonly bytes: number;
  /** Whether the server closes the connection after this answer. */
  readonly last: boolean;
}

type Sink = (content: Buffer) => void;

const LONGEST_HEAD = 64 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const LF = 0x0a;

/**
 * Finds the end of each answer on a connection that has one request in flight (RFC 9112 sections 6 and 7.1), and counts
 * content instead of keeping it. Throws when the bytes are not an HTTP/1.1 answer.
 */
export class AnswerReader {
  #head = '';
  #state: 'head' | 'sized' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer' = 'head';
  #line = '';
  #left = 0;
  #status = 0;
  #bytes = 0;
  #last = false;
  #lastHead = '';
  /** Called with every piece of content. Its memory is used again after the call. */
  sink: Sink | undefined;

  /** The status line and the headers of the last answer whose head has arrived. */
  get lastHead(): string {
    return this.#lastHead;
  }

  /** The answer that ends with these bytes; undefined if none does. */
  push(input: Buffer): Answer | undefined {
    let at = 0;
    while (at < input.length) {
      at = this.#step(input, at);
      if (this.#state === 'head' && this.#head === '') return this.#finish(at === input.length);
    }
    return undefined;
  }

  #step(input: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(input, at);
      case 'sized':
      case 'chunk':
        return this.#readContent(input, at);
      default:
        return this.#readLine(input, at);
    }
  }

  #readHead(input: Buffer, at: number): number {
    // The common case first: the head is whole in this piece. Otherwise collect, as text, until it is.
    const end = this.#head === '' ? input.indexOf(HEAD_END, at) : -1;
    if (end >= 0) return this.#parseHead(input.toString('latin1', at, end), end + HEAD_END.length);
    const before = this.#head.length;
    this.#head += input.toString('latin1', at);
    const found = this.#head.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (found < 0 && this.#head.length > LONGEST_HEAD) throw new Error('the head of the answer does not end');
    if (found < 0) return input.length;
    return this.#parseHead(this.#head.slice(0, found), at + found + HEAD_END.length - before);
  }

  #parseHead(head: string, next: number): number {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
    if (status === undefined) throw new Error('the answer is not HTTP/1.1');
    this.#head = '';
    this.#lastHead = head;
    this.#status = Number(status);
    this.#last = /\r\nconnection: *close/i.test(head);
    this.#bytes = 0;
    const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (size !== undefined) this.#expect('sized', Number(size));
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.#state = 'chunk-size';
    else if (this.#status !== 204 && this.#status !== 304) throw new Error('the answer has no length');
    return next;
  }

  #expect(state: 'sized' | 'chunk', bytes: number): void {
    this.#left = bytes;
    this.#state = bytes > 0 ? state : 'head';
  }

  #readContent(input: Buffer, at: number): number {
    const take = Math.min(this.#left, input.length - at);
    this.sink?.(input.subarray(at, at + take));
    this.#bytes += take;
    this.#left -= take;
    if (this.#left === 0) this.#state = this.#state === 'sized' ? 'head' : 'chunk-end';
    return at + take;
  }

  #readLine(input: Buffer, at: number): number {
    const end = input.indexOf(LF, at);
    this.#line += input.toString('latin1', at, end < 0 ? input.length : end + 1);
    if (this.#line.length > LONGEST_HEAD) throw new Error('a line of the chunked answer does not end');
    if (end < 0) return input.length;
    const line = this.#line.trim();
    this.#line = '';
    if (this.#state === 'chunk-end') this.#state = 'chunk-size';
    else if (this.#state === 'chunk-size') this.#startChunk(line);
    else if (line === '') this.#state = 'head'; // the blank line after the trailers
    return end + 1;
  }

  #startChunk(line: string): void {
    const size = Number.parseInt(line, 16); // an extension after ";" is not read
    if (Number.isNaN(size)) throw new Error('a chunk of the answer has no size');
    if (size === 0) this.#state = 'trailer';
    else this.#expect('chunk', size);
  }

  #finish(complete: boolean): Answer {
    if (!complete) throw new Error('bytes follow an answer that no request asked for');
    return { status: this.#status, bytes: this.#bytes, last: this.#last };
  }
}
