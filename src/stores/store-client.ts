import type { Agent, Dispatcher } from 'undici';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { ByteBudget } from '../runtime/limits/byte-budget.ts';
import { AnswerTooLong, type ResponseSink, sendRequest } from '../runtime/send-request.ts';
import { createLookup } from './addresses.ts';
import { StoreError, TooLongAnswer } from './store-error.ts';
import type { StoreFiles } from './store-files.ts';

export interface StoreClientOptions {
  /** What the store is called in messages, with its article: `the log store`. */
  readonly name: string;
  /** An `http://` or `https://` URL; its path, if any, is put before the path of every request. */
  readonly url: string;
  /** Whether the store's certificate is not verified. */
  readonly trustsAnybody: boolean;
  /** Headers of every request; the names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A longer answer is refused. Default: ten thousand log records. */
  readonly longestAnswerBytes?: number;
}

export interface StoreClientParts<Purpose extends string> {
  readonly clock: Clock;
  /** Read at each request, so that a changed file is used from the next request on. */
  readonly files: Pick<StoreFiles, 'authorization' | 'ca'>;
  /** Called for each request, with its status (0: no answer) and the seconds until the answer was complete. */
  observe(purpose: Purpose, status: number, seconds: number): void;
}

/** `Purpose`: the words by which requests are counted. */
export interface StoreRequest<Purpose extends string> {
  readonly purpose: Purpose;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query string. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** Sent as a form, instead of `body`. */
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
/** We close idle connections before the stores and their proxies do, which wait for a minute or longer. */
const IDLE_CONNECTION_MS = 30_000;
/** Ten thousand records of 1.6 kB. Parsing such an answer and writing ours takes 100 ms, in which the event loop is blocked. */
const LONGEST_ANSWER_BYTES = 16 * 1024 * 1024;
/** The most bytes of all incomplete answers. A pod has 512 MiB, of which the mirror of a large cluster takes 300. */
const MOST_HELD_BYTES = 4 * LONGEST_ANSWER_BYTES;

/**
 * Sends requests to a store beside the cluster, such as the log store or Prometheus, over connections of its own. So a store that hangs, or sends too much or nonsense, does not affect other
 * connections. It is not an official client library: those check the vendor of the store, retry by themselves and
 * need some twenty packages.
 */
export class StoreClient<Purpose extends string> {
  readonly #connect: (ca: string | undefined) => Agent;
  /** All connections; replaced when the CA certificates change. */
  #agent: { readonly ca: string | undefined; readonly agent: Agent } | undefined;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #parts: StoreClientParts<Purpose>;
  readonly #name: string;
  readonly #longest: number;
  readonly #budget = new ByteBudget(MOST_HELD_BYTES);

  private constructor(
    connect: (ca: string | undefined) => Agent,
    { name, url, headers = {}, longestAnswerBytes = LONGEST_ANSWER_BYTES }: StoreClientOptions,
    parts: StoreClientParts<Purpose>,
  ) {
    const { origin, pathname } = new URL(url);
    this.#connect = connect;
    this.#name = name;
    this.#longest = longestAnswerBytes;
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/$/, '');
    this.#headers = headers;
    this.#parts = parts;
  }

  /** Creates a client. It connects at the first request. */
  static async open<Purpose extends string>(
    options: StoreClientOptions,
    parts: StoreClientParts<Purpose>,
  ): Promise<StoreClient<Purpose>> {
    const { default: createAgent } = await import('undici/lib/dispatcher/agent.js');
    const lookup = createLookup(parts.clock);
    const connect = (ca: string | undefined): Agent =>
      new createAgent({
        allowH2: false,
        pipelining: 1,
        keepAliveTimeout: IDLE_CONNECTION_MS,
        connect: {
          ...(ca === undefined ? {} : { ca }),
          rejectUnauthorized: !options.trustsAnybody,
          timeout: CONNECT_MS,
          lookup,
        },
        headersTimeout: 0, // the signal of each request has the time limit
        bodyTimeout: 0,
      });
    return new StoreClient(connect, options, parts);
  }

  /** Resolves to the complete answer, with any status. Rejects with a `StoreError` if there is none, and at once when the signal aborts. */
  async json(request: StoreRequest<Purpose>, signal: AbortSignal): Promise<StoreAnswer> {
    const { clock, observe } = this.#parts;
    const began = clock.monotonic();
    const stop = new AbortController();
    const removeListener = onAbort(signal, () => stop.abort());
    const answer = new HeldAnswer(this.#budget, () => stop.abort());
    try {
      const options = this.#options(request);
      const limits = { signal: stop.signal, maxBytes: () => this.#longest };
      await sendRequest(this.#current(), options, { sink: answer, ...limits });
      observe(request.purpose, answer.status, (clock.monotonic() - began) / 1_000);
      return { status: answer.status, ...answer.content() };
    } catch (error) {
      observe(request.purpose, 0, (clock.monotonic() - began) / 1_000);
      if (answer.isTooMuch) throw new StoreError('full', `there is no room for the answer of ${this.#name}`, error);
      if (error instanceof AnswerTooLong) throw new TooLongAnswer(this.#name, answer.beginning(), error);
      throw new StoreError('away', `${this.#name} does not answer`, error);
    } finally {
      removeListener();
      answer.release();
    }
  }

  /** Ends all requests in flight. */
  async close(): Promise<void> {
    await this.#agent?.agent.destroy();
  }

  /** The connections with the current certificates. Requests in flight finish on the old ones. */
  #current(): Agent {
    const ca = this.#parts.files.ca();
    if (this.#agent && this.#agent.ca === ca) return this.#agent.agent;
    this.#agent?.agent.close().catch(() => undefined);
    const agent = this.#connect(ca);
    this.#agent = { ca, agent };
    return agent;
  }

  #options(request: StoreRequest<Purpose>): Dispatcher.DispatchOptions {
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

function contentOf({ body, form }: StoreRequest<string>): { readonly type?: string; readonly body: string | null } {
  if (body !== undefined) return { type: 'application/json', body: JSON.stringify(body) };
  if (form === undefined) return { body: null };
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
}

/** The most characters that are kept of an answer that is not JSON. */
const LONGEST_TEXT = 1_024;
/** The beginning of an answer contains the scroll id, which has 60 bytes for each shard. */
const LONGEST_BEGINNING = 64 * 1_024;

/** Collects an answer while it arrives, as long as the budget of all answers has room. */
class HeldAnswer implements ResponseSink {
  status = 0;
  isTooMuch = false;
  readonly #budget: ByteBudget;
  readonly #stop: () => void;
  #chunks: Buffer[] = [];
  #length = 0;

  /** `stop` is called when the budget is used up. */
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

  /** The first bytes of an incomplete answer. */
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
