import type { Dispatcher } from 'undici';

/** Fed while an answer comes in. Nothing here may throw. */
export interface ResponseSink {
  /** Status and headers; names are in lower case. */
  start(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  data(chunk: Buffer): void;
}

/**
 * One request and its answer. Resolves at the end of the body; rejects when it breaks off, and at once when the signal
 * aborts. Chunks go to the sink as they come, without a promise each: a watch may deliver thousands a second.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { sink, signal }: { readonly sink: ResponseSink; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    const settle = (act: () => void): void => {
      settled = true;
      signal.removeEventListener('abort', abort);
      act();
    };
    const abort = (): void => {
      if (settled) return;
      const reason = new Error('aborted');
      settle(() => reject(reason));
      controller?.abort(reason);
    };
    if (signal.aborted) return reject(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (settled) started.abort(new Error('aborted')); // it was still waiting for a connection
      },
      onResponseStart(_controller, status, headers) {
        if (!settled && status >= 200) sink.start(status, headers);
      },
      onResponseData(_controller, chunk) {
        if (!settled) sink.data(chunk);
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
