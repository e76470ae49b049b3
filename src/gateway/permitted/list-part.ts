import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import { memberAt, plainString } from './json-text.ts';
import { ListSplitter, UnreadableList } from './list-splitter.ts';

/** The longest error of the cluster that is passed on. */
const LONGEST_REFUSAL = 64 * 1024;

/** A part that the cluster has not answered with a list. */
export interface RefusedPart {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Receives what a part has. */
export interface PartSink {
  /** The items, or rows, follow. Called once for every list, also if it has none. */
  begin(array: string, headers: readonly string[]): void;
  item(bytes: Buffer): void;
  member(name: string, value: Buffer): void;
  /** Called after each chunk. Nothing more is read until the promise has resolved. */
  flush(): Promise<void> | undefined;
}

/** Reads one list of the cluster while it arrives. */
export class ListPart implements PassedAnswer {
  readonly #into: PartSink;
  readonly #giveUp: () => void;
  readonly #splitter: ListSplitter;
  #refused: { status: number; headers: readonly string[]; chunks: Buffer[]; bytes: number } | undefined;
  #headers: readonly string[] = [];
  #hasArray = false;
  #version = '';
  #token = '';

  /** What was wrong with the answer itself. Then `giveUp` has been called, which is to end the request. */
  failure: UnreadableList | undefined;

  constructor(into: PartSink, giveUp: () => void) {
    this.#into = into;
    this.#giveUp = giveUp;
    this.#splitter = new ListSplitter({
      begin: (array) => this.#begin(array),
      item: (bytes) => this.#into.item(bytes),
      member: (name, value) => this.#member(name, value),
    });
  }

  get refused(): RefusedPart | undefined {
    return this.#refused && { ...this.#refused, body: Buffer.concat(this.#refused.chunks) };
  }

  get version(): string {
    return this.#version;
  }

  /** The cluster's own `continue`; empty when the list is complete. */
  get token(): string {
    return this.#token;
  }

  start(status: number, headers: readonly string[]): void {
    if (status === 200) this.#headers = headers;
    else this.#refused = { status, headers, chunks: [], bytes: 0 };
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#refused) return this.#collect(this.#refused, chunk);
    if (this.failure) return undefined;
    try {
      this.#splitter.write(chunk);
    } catch (error) {
      this.failure = error as UnreadableList;
      this.#giveUp();
      return undefined;
    }
    return this.#into.flush();
  }

  /** To be called at the end of the answer. Throws `UnreadableList` when it was not a whole list with a version. */
  end(): void {
    this.#splitter.end();
    if (!this.#hasArray || this.#version === '') throw new UnreadableList('it has no items or no version');
  }

  #begin(array: string): void {
    this.#hasArray = true;
    this.#into.begin(array, this.#headers);
  }

  #member(name: string, value: Buffer): void {
    if (name === 'metadata') {
      this.#version = plainString(value, memberAt(value, 0, 'resourceVersion')) ?? '';
      this.#token = plainString(value, memberAt(value, 0, 'continue')) ?? '';
    } else if (name === 'items' || name === 'rows') {
      this.#begin(name); // null: a list without items
    } else this.#into.member(name, value);
  }

  #collect(refused: { chunks: Buffer[]; bytes: number }, chunk: Buffer): undefined {
    refused.bytes += chunk.length;
    if (refused.bytes <= LONGEST_REFUSAL) refused.chunks.push(chunk);
  }
}

/** Sends one request. Its promise rejects as `Gateway.forward` does. */
export type SendPart = (answer: PassedAnswer, signal: AbortSignal) => Promise<void>;

/** Sends a request and reads its answer as a list. Resolves to the part, whole or refused; rejects as `send` does, or with `UnreadableList`. */
export async function readPart(send: SendPart, into: PartSink, signal: AbortSignal): Promise<ListPart> {
  const broken = new AbortController();
  const part = new ListPart(into, () => broken.abort());
  try {
    await send(part, AbortSignal.any([signal, broken.signal]));
  } catch (error) {
    throw part.failure ?? error;
  }
  if (!part.refused) part.end();
  return part;
}
