/** Calls `act` once when the signal aborts, or at once if it has aborted. The returned function removes the listener. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => {};
  }
  const listener = (): void => act();
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, resolve);
  });

/**
 * Settles as the promise does, or rejects at once when the signal aborts. The work behind the promise continues, since
 * others may wait for it.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const gaveUp = Promise.withResolvers<never>();
  const stopListening = onAbort(signal, () => gaveUp.reject(new Error('aborted')));
  return Promise.race([promise, gaveUp.promise]).finally(stopListening);
}
