import type { Dispatcher } from 'undici';
import { onAbort } from './abort.ts';

/** Receives an answer while it arrives. Its methods must not throw or reject. */
export interface ResponseSink {
  /** Called with status and headers; header names are in lower case. */
  start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /** Called with each chunk of the body. If it returns a promise, nothing more is read until that has resolved. */
  data(chunk: Buffer): Promise<void> | undefined;
}

/** The answer was cut off because it was too long. The part that was received must not be used. */
export class AnswerTooLong extends Error {
  readonly status: number;

  constructor(status: number, maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
    this.name = 'AnswerTooLong';
    this.status = status;
  }
}

interface Receiver {
  readonly sink: ResponseSink;
  readonly signal: AbortSignal;
  /** The longest body that an answer of this status may have. */
  maxBytes(status: number): number;
}

/**
 * Sends a request. Resolves at the end of the answer; rejects when it breaks off, with `AnswerTooLong` when it exceeds its limit,
 * and at once when the signal aborts. Chunks are passed to the sink when they arrive, without a promise for each, because a watch
 * may deliver thousands a second.
 */
export function sendRequest(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { sink, signal, maxBytes }: Receiver,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let longest = 0;
    let code = 0;
    let received = 0;
    const settle = (act: () => void): void => {
      settled = true;
      removeListener();
      act();
    };
    const giveUp = (reason: Error): void => {
      if (settled) return;
      settle(() => reject(reason));
      controller?.abort(reason);
    };
    const pauseUntil = (ready: Promise<void> | undefined): void => {
      if (!ready) return;
      controller?.pause();
      void ready.then(() => !settled && controller?.resume());
    };
    if (signal.aborted) return reject(new Error('aborted'));
    const removeListener = onAbort(signal, () => giveUp(new Error('aborted')));
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (settled) started.abort(new Error('aborted')); // the signal aborted while the request waited for a connection
      },
      onResponseStart(_controller, status, headers) {
        if (settled || status < 200) return;
        code = status;
        longest = maxBytes(status);
        sink.start(status, headers);
      },
      onResponseData(_controller, chunk) {
        received += chunk.length;
        if (received > longest) giveUp(new AnswerTooLong(code, longest));
        else if (!settled) pauseUntil(sink.data(chunk));
      },
      onResponseEnd() {
        if (!settled) settle(resolve);
      },
      onResponseError(_controller, error) {
        if (!settled) settle(() => reject(error));
      },
    });
  });
}
