import type { Agent, Dispatcher } from 'undici';
import { AnswerTooLong, type ResponseSink, sendRequest } from '../../kubernetes/client/send-request.ts';
import { onAbort } from '../../runtime/abort.ts';
import { ByteBudget } from '../../runtime/byte-budget.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createLookup } from './addresses.ts';
import { StoreError, TooLongAnswer } from './log-store.ts';
import type { StoreFiles } from './store-files.ts';

export interface StoreClientOptions {
  /** `http://` or `https://`, with a path before all others where there is one. */
  readonly url: string;
  /** True: any certificate is taken. */
  readonly trustsAnybody: boolean;
  /** Sent with each request, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StoreClientParts {
  readonly clock: Clock;
  /** Asked at each request, so that a change holds from the next one on. */
  readonly files: Pick<StoreFiles, 'authorization' | 'ca'>;
  /** Told of each request: what for, its status (0: none), and seconds until the answer was whole. */
  observe(purpose: StorePurpose, status: number, seconds: number): void;
}

export type StorePurpose = 'detect' | 'indices' | 'search' | 'scroll' | 'close';

export interface StoreRequest {
  readonly purpose: StorePurpose;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  readonly body?: object;
  /** Instead of a body of JSON. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface StoreAnswer {
  readonly status: number;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly body: unknown;
  /** The beginning of a body that is not JSON. */
  readonly text?: string;
}

const CONNECT_MS = 5_000;
/** Stores and their proxies close idle connections after a minute or more. */
const IDLE_CONNECTION_MS = 30_000;
/** Ten thousand records of 1.6 kB. To parse it and to write the answer takes 100 ms, in which nobody else is answered. */
const LONGEST_ANSWER_BYTES = 16 * 1024 * 1024;
/** Bytes of all answers that have not come to their end. A pod has 512 MiB, of which the mirror of a large cluster takes 300. */
const MOST_HELD_BYTES = 4 * LONGEST_ANSWER_BYTES;

/**
 * Speaks JSON with a store over connections of its own, so that one that hangs, floods or lies takes none of the others. It
 * is no official client: those check who made the store, retry by themselves and bring some twenty packages.
 */
export class StoreClient {
  readonly #connect: (ca: string | undefined) => Agent;
  /** All connections, made anew when the certificates change. */
  #agent: { readonly ca: string | undefined; readonly agent: Agent } | undefined;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #parts: StoreClientParts;
  readonly #budget = new ByteBudget(MOST_HELD_BYTES);

  private constructor(
    connect: (ca: string | undefined) => Agent,
    { url, headers }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
    parts: StoreClientParts,
  ) {
    this.#connect = connect;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/$/, '');
    this.#headers = headers;
    this.#parts = parts;
  }

  /** Connects to nothing yet. */
  static async open(
    { url, trustsAnybody, headers = {} }: StoreClientOptions,
    parts: StoreClientParts,
  ): Promise<StoreClient> {
    const { default: createAgent } = await import('undici/lib/dispatcher/agent.js');
    const lookup = createLookup(parts.clock);
    const connect = (ca: string | undefined): Agent =>
      new createAgent({
        allowH2: false,
        pipelining: 1,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        connect: {
          ...(ca === undefined ? {} : { ca }),
          rejectUnauthorized: !trustsAnybody,
          timeout: CONNECT_MS,
          lookup,
        },
        headersTimeout: 0, // the caller has a time limit of its own
        bodyTimeout: 0,
      });
    return new StoreClient(connect, { url: new URL(url), headers }, parts);
  }

  /** Returns the whole answer, with any status. Rejects with a `StoreError` when there is none, at once when the signal aborts. */
  async json(request: StoreRequest, signal: AbortSignal): Promise<StoreAnswer> {
    const { clock, observe } = this.#parts;
    const began = clock.monotonic();
    const stop = new AbortController();
    const letGo = onAbort(signal, () => stop.abort());
    const answer = new HeldAnswer(this.#budget, () => stop.abort());
    try {
      const options = this.#options(request);
      const limits = { signal: stop.signal, maxBytes: () => LONGEST_ANSWER_BYTES };
      await sendRequest(this.#current(), options, { sink: answer, ...limits });
      observe(request.purpose, answer.status, (clock.monotonic() - began) / 1_000);
      return { status: answer.status, ...answer.content() };
    } catch (error) {
      observe(request.purpose, 0, (clock.monotonic() - began) / 1_000);
      if (answer.isTooMuch) throw new StoreError('full', 'there is no room for the answer of the log store', error);
      if (error instanceof AnswerTooLong) throw new TooLongAnswer(answer.beginning(), error);
      throw new StoreError('away', 'the log store does not answer', error);
    } finally {
      letGo();
      answer.release();
    }
  }

  /** Ends everything in flight. */
  async close(): Promise<void> {
    await this.#agent?.agent.destroy();
  }

  /** Requests under way end on the old connections. */
  #current(): Agent {
    const ca = this.#parts.files.ca();
    if (this.#agent && this.#agent.ca === ca) return this.#agent.agent;
    this.#agent?.agent.close().catch(() => undefined);
    const agent = this.#connect(ca);
    this.#agent = { ca, agent };
    return agent;
  }

  #options(request: StoreRequest): Dispatcher.DispatchOptions {
    const { method, path } = request;
    const authorization = this.#parts.files.authorization();
    const { type, body } = contentOf(request);
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      body,
      headers: {
        ...this.#headers,
        accept: 'application/json',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(authorization === undefined ? {} : { authorization }),
      },
    };
  }
}

function contentOf({ body, form }: StoreRequest): { readonly type?: string; readonly body: string | null } {
  if (body !== undefined) return { type: 'application/json', body: JSON.stringify(body) };
  if (form === undefined) return { body: null };
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
}

/** Characters of a text that are looked at. */
const LONGEST_TEXT = 1_024;
/** Before its records an answer has the name of a place, with 60 bytes for each shard. */
const LONGEST_BEGINNING = 64 * 1_024;

/** An answer as it comes in, as far as there is room for it beside the others. */
class HeldAnswer implements ResponseSink {
  status = 0;
  isTooMuch = false;
  readonly #budget: ByteBudget;
  readonly #stop: () => void;
  #chunks: Buffer[] = [];
  #length = 0;

  /** `stop` is called when there is no room. */
  constructor(budget: ByteBudget, stop: () => void) {
    this.#budget = budget;
    this.#stop = stop;
  }

  start(status: number): void {
    this.status = status;
  }

  data(chunk: Buffer): undefined {
    if (this.isTooMuch) return;
    if (this.#budget.take(chunk.length)) {
      this.#length += chunk.length;
      this.#chunks.push(chunk);
      return;
    }
    this.isTooMuch = true;
    this.#stop();
  }

  content(): Pick<StoreAnswer, 'body' | 'text'> {
    const text = Buffer.concat(this.#chunks).toString();
    try {
      return { body: JSON.parse(text) };
    } catch {
      return { body: undefined, text: text.slice(0, LONGEST_TEXT) };
    }
  }

  /** What came first of an answer that is not whole. */
  beginning(): string {
    const chunks: Buffer[] = [];
    for (let at = 0, length = 0; at < this.#chunks.length && length < LONGEST_BEGINNING; at++) {
      chunks.push(this.#chunks[at] as Buffer);
      length += chunks.at(-1)?.length ?? 0;
    }
    return Buffer.concat(chunks).subarray(0, LONGEST_BEGINNING).toString();
  }

  release(): void {
    this.#budget.give(this.#length);
    this.#length = 0;
    this.#chunks = [];
  }
}
