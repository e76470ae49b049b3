import type { Dispatcher } from 'undici';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { PassageError, type PassedAnswer, type PassedBody } from './passed-call.ts';

/** From the end of the request to the first byte of its answer (docs/contract/http.md, HL-06). */
const HEADERS_MS = 60_000;

export interface UpstreamRequest {
  readonly dispatcher: Dispatcher;
  readonly options: Dispatcher.DispatchOptions;
  readonly body: PassedBody | undefined;
  readonly isLongRunning: boolean;
}

/**
 * Sends one request and passes its answer on as it comes. Resolves at the end of the body. Rejects when the answer does
 * not begin or breaks off, and at once when the signal aborts, which also ends the request at the server.
 */
export function passOn(
  { dispatcher, options, body, isLongRunning }: UpstreamRequest,
  answer: PassedAnswer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isSettled = false;
    let hasBegun = false;
    let cancel = (): void => undefined;
    const settle = (act: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      stopListening();
      cancel();
      act();
    };
    const giveUp = (reason: Error): void => {
      settle(() => reject(reason));
      controller?.abort(reason);
    };
    const hold = (ready: Promise<void> | undefined): void => {
      if (!ready) return;
      controller?.pause();
      void ready.then(() => isSettled || controller?.resume());
    };
    const expectHeaders = (): void => {
      if (isSettled || hasBegun) return;
      cancel = clock.after(HEADERS_MS, () => giveUp(new PassageError('timeout')));
    };
    const stopListening = onAbort(signal, () => giveUp(new PassageError('left')));
    if (isSettled) return;
    // The limit begins after the body: how slowly a client may send it is limited where the body is read.
    if (!isLongRunning && body) body.stream.once('end', expectHeaders);
    else if (!isLongRunning) expectHeaders();
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (isSettled) started.abort(new Error('aborted')); // it was still waiting for a connection
      },
      onResponseStart(started, status) {
        if (isSettled || status < 200) return;
        hasBegun = true;
        cancel();
        answer.start(status, textsOf(started.rawHeaders as readonly Buffer[]));
      },
      onResponseData(_controller, chunk) {
        if (!isSettled) hold(answer.data(chunk));
      },
      onResponseEnd() {
        settle(resolve);
      },
      onResponseError(_controller, error) {
        settle(() => reject(error));
      },
    });
  });
}

/** Decodes each byte as one character, so that the headers are written as they were read. */
const textsOf = (headers: readonly Buffer[]): readonly string[] => headers.map((header) => header.toString('latin1'));
