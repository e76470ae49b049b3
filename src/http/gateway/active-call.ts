import type { Exchange } from '../exchange.ts';
import type { StreamEnd } from './tunnel.ts';

/** A call in flight, which can be ended early. */
export class ActiveCall {
  readonly #abort = new AbortController();
  /** Why we have ended it; `undefined` if we have not. */
  ended: StreamEnd | undefined;
  /** Called when we end it. Default: aborts the call to the cluster. */
  onEnd = (): void => this.abort();

  constructor(exchange: Exchange) {
    // Like `exchange.signal`, but without a second signal for each call.
    exchange.atEnd(() => {
      if (!exchange.response.writableFinished) this.abort();
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort = (): void => this.#abort.abort();

  end = (why: StreamEnd): void => {
    if (this.ended) return;
    this.ended = why;
    this.onEnd();
  };
}
