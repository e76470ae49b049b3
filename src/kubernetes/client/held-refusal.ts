import type { ResponseSink } from './send-request.ts';

/** Passes an answer on as it comes, but holds a 401 back until it is clear whether the request is sent again. */
export class HeldRefusal implements ResponseSink {
  readonly #sink: ResponseSink;
  readonly #chunks: Buffer[] = [];
  #headers: Parameters<ResponseSink['start']>[1] | undefined;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  get isHeld(): boolean {
    return this.#headers !== undefined;
  }

  start(status: number, headers: Parameters<ResponseSink['start']>[1]): void {
    if (status === 401) this.#headers = headers;
    else this.#sink.start(status, headers);
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (!this.#headers) return this.#sink.data(chunk);
    this.#chunks.push(chunk);
    return undefined;
  }

  /** The request is not sent again: passes the 401 on. */
  release(): void {
    if (!this.#headers) return;
    this.#sink.start(401, this.#headers);
    for (const chunk of this.#chunks) void this.#sink.data(chunk);
  }
}
