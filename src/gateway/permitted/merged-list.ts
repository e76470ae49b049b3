import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import { type ListPart, type PartSink, readPart, type SendPart } from './list-part.ts';

/**
 * How much of an answer is held before it begins, in bytes. A part that fails within it makes the whole answer that failure; later the
 * connection is cut. 50 pods, or the tables of 500.
 */
const HELD_BYTES = 256 * 1024;

/** Headers of the first part that are not those of the whole. */
const OF_THE_PART: ReadonlySet<string> = new Set(['content-length', 'content-encoding', 'date', 'etag', 'warning']);

/** The client's end. */
export interface ListOut extends PassedAnswer {
  end(): void;
}

/** Which items of a part are kept; `array` is `items` or `rows`. */
export type Keeps = (item: Buffer, array: string) => boolean;

const COMMA = Buffer.from(',');

/**
 * Joins several lists of one kind into one, and passes it on while it arrives. The members beside the items are those of the first part.
 * The metadata come last, because only then it is known whether and where the list goes on.
 */
export class MergedList {
  readonly #out: ListOut;
  readonly #moreHeaders: readonly string[];
  /** The members of the first part, as the text that ends the list. */
  #members: Buffer[] = [];
  #headers: readonly string[] = [];
  #array: string | undefined;
  #items = 0;
  #pieces: Buffer[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasBegun = false;

  constructor(out: ListOut, moreHeaders: readonly string[]) {
    this.#out = out;
    this.#moreHeaders = moreHeaders;
  }

  /** Whether the client has been sent something: then a failure can only cut the answer. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether there was a part that is a list. */
  get hasParts(): boolean {
    return this.#array !== undefined;
  }

  /** How many items it has so far. */
  get items(): number {
    return this.#items;
  }

  /** Adds one part at the client's pace, with the items that `keeps` keeps. Rejects as `readPart` does. */
  add(send: SendPart, keeps: Keeps, signal: AbortSignal): Promise<ListPart> {
    return readPart(send, this.sink(keeps), signal);
  }

  /** Receives one part. */
  sink(keeps: Keeps): PartSink {
    const isFirst = this.#array === undefined;
    let array = '';
    return {
      begin: (name, headers) => {
        array = name;
        if (isFirst) this.#beginItems(name, headers);
      },
      item: (bytes) => {
        if (keeps(bytes, array)) this.#item(bytes);
      },
      member: (name, value) => {
        if (isFirst) this.#members.push(Buffer.from(`"${name}":`), Buffer.from(value), COMMA);
      },
      flush: () => this.#flush(),
    };
  }

  /** Ends the answer. `token`: the `continue` with which the client goes on. */
  finish(version: string, token: string | undefined): void {
    const metadata = JSON.stringify({ resourceVersion: version, ...(token !== undefined && { continue: token }) });
    this.#pieces.push(Buffer.from('],'), ...this.#members, Buffer.from(`"metadata":${metadata}}\n`));
    void this.#flush();
    if (!this.#hasBegun) void this.#begin();
    this.#out.end();
  }

  #beginItems(array: string, headers: readonly string[]): void {
    this.#array = array;
    this.#headers = headers.filter((_, at) => !OF_THE_PART.has((headers[at - (at % 2)] as string).toLowerCase()));
    this.#pieces.push(Buffer.from(`{"${array}":[`));
  }

  #item(bytes: Buffer): void {
    if (this.#items++ > 0) this.#pieces.push(COMMA);
    this.#pieces.push(bytes);
  }

  #flush(): Promise<void> | undefined {
    if (this.#pieces.length === 0) return undefined;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    if (this.#hasBegun) return this.#out.data(bytes);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return this.#heldBytes > HELD_BYTES ? this.#begin() : undefined;
  }

  #begin(): Promise<void> | undefined {
    this.#hasBegun = true;
    this.#out.start(200, [...this.#headers, ...this.#moreHeaders]);
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    return this.#out.data(bytes);
  }
}
