import type { Agent, Dispatcher } from 'undici';
import { AnswerTooLong, sendRequest } from '../../kubernetes/client/send-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createLookup } from './addresses.ts';
import { StoreError } from './log-store.ts';
import type { StoreFiles } from './store-files.ts';

export interface StoreClientOptions {
  /** `http://` or `https://`, with a path before all others where there is one. */
  readonly url: string;
  /** True: any certificate is taken. */
  readonly trustsAnybody: boolean;
}

export interface StoreClientParts {
  readonly clock: Clock;
  /** Asked at each request, so that a change holds from the next one on. */
  readonly files: Pick<StoreFiles, 'authorization' | 'ca'>;
  /** Told of each request: what for, its status (0: none), and seconds until the answer was whole. */
  observe(purpose: StorePurpose, status: number, seconds: number): void;
}

export type StorePurpose = 'detect' | 'search' | 'scroll' | 'close';

export interface StoreRequest {
  readonly purpose: StorePurpose;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

export interface StoreAnswer {
  readonly status: number;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly body: unknown;
}

const CONNECT_MS = 5_000;
/** Stores and their proxies close idle connections after a minute or more. */
const IDLE_CONNECTION_MS = 30_000;
/** Ten thousand records of 3 kB. It takes some 200 ms to parse, in which nobody else is answered. */
const LONGEST_ANSWER_BYTES = 32 * 1024 * 1024;

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
  readonly #parts: StoreClientParts;

  private constructor(connect: (ca: string | undefined) => Agent, url: URL, parts: StoreClientParts) {
    this.#connect = connect;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/$/, '');
    this.#parts = parts;
  }

  /** Connects to nothing yet. */
  static async open({ url, trustsAnybody }: StoreClientOptions, parts: StoreClientParts): Promise<StoreClient> {
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
        headersTimeout: 0, // whoever asks has a time limit of his own
        bodyTimeout: 0,
      });
    return new StoreClient(connect, new URL(url), parts);
  }

  /** The whole answer, whatever its status. Rejects with a `StoreError` when there is none, at once when the signal aborts. */
  async json(request: StoreRequest, signal: AbortSignal): Promise<StoreAnswer> {
    const { clock, observe } = this.#parts;
    const began = clock.monotonic();
    const chunks: Buffer[] = [];
    let status = 0;
    const sink = {
      start(code: number) {
        status = code;
      },
      data(chunk: Buffer) {
        chunks.push(chunk);
        return undefined;
      },
    };
    try {
      const options = this.#options(request);
      await sendRequest(this.#current(), options, { sink, signal, maxBytes: () => LONGEST_ANSWER_BYTES });
    } catch (error) {
      status = 0;
      if (error instanceof AnswerTooLong)
        throw new StoreError('refused', 'the answer of the log store is too long; ask for fewer records', error);
      throw new StoreError('away', 'the log store does not answer', error);
    } finally {
      observe(request.purpose, status, (clock.monotonic() - began) / 1_000);
    }
    return { status, body: parsed(Buffer.concat(chunks)) };
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

  #options({ method, path, body }: StoreRequest): Dispatcher.DispatchOptions {
    const authorization = this.#parts.files.authorization();
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      body: body === undefined ? null : JSON.stringify(body),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(authorization === undefined ? {} : { authorization }),
      },
    };
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
