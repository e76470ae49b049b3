import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Runs a request with a signal that aborts with any of `signals`, or after `ms` by the injected clock. For requests
 * that a caller waits for; streams have a limit of silence instead.
 */
export async function withTimeLimit<T>(
  clock: Clock,
  limits: { readonly ms: number; readonly signals: readonly AbortSignal[] },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const cancel = clock.after(limits.ms, abort);
  const letGo = limits.signals.map((signal) => onAbort(signal, abort));
  try {
    return await run(controller.signal);
  } finally {
    cancel();
    for (const forget of letGo) forget();
  }
}
