import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type { WatchEvent, WatchRequest, WatchSink } from '../../src/kubernetes/reflector/lister-watcher.ts';

/** The server's end of one watch. */
export class ModelWatch {
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
  /** How the stream ended, for the reflector. */
  readonly ended: Promise<Failure>;
  /** The server has passed on everything up to this version. */
  sent = 0;
  /** No byte comes through any more, and no end. */
  isDead = false;
  isAccepted = false;
  readonly #sink: WatchSink;
  #resolve: (failure: Failure) => void = () => {};
  #isOpen = true;

  constructor(request: WatchRequest, sink: WatchSink, signal: AbortSignal) {
    this.request = request;
    this.signal = signal;
    this.#sink = sink;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (signal.aborted) this.end({ kind: 'aborted' });
    else signal.addEventListener('abort', () => this.end({ kind: 'aborted' }), { once: true });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Success status and headers. */
  accept(): void {
    if (!this.#isOpen) return;
    this.isAccepted = true;
    this.#sink.bytes();
    this.#sink.accepted();
  }

  send(event: WatchEvent): void {
    if (!this.#isOpen) return;
    this.#sink.bytes();
    const failure = this.#sink.event(event);
    if (failure) this.end(failure);
  }

  /** The first end is the one that counts. */
  end(failure: Failure): void {
    this.#isOpen = false;
    this.#resolve(failure);
  }
}
