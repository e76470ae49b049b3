import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Connections } from './connections.ts';

export interface DrainParts {
  readonly server: Server;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: { readonly shutdownDelayMs: number; readonly drainMs: number };
  onDraining(): void;
}

/** A connection that was opened just before the end may still bring its first request within this time. */
const FRESH_MS = 1_000;

/**
 * Serves until the signal aborts, then leaves in the order of R-07: readiness fails, serving goes on while load balancers
 * notice, the port closes, answers in flight are finished, whatever is left after the drain time is cut.
 */
export async function drain(parts: DrainParts, signal: AbortSignal): Promise<void> {
  const { server, connections, clock, logger, options } = parts;
  await untilAborted(server, signal);
  parts.onDraining();
  connections.drain();
  logger.info({ delayMs: options.shutdownDelayMs }, 'shutting down: not ready any more, still serving');
  await clock.sleep(options.shutdownDelayMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.closeIdle(false);
  logger.info({ connections: connections.size }, 'shutting down: not accepting any more');
  const cancelFresh = clock.after(FRESH_MS, () => connections.closeIdle(true));
  const cancelHardStop = clock.after(options.drainMs, () => {
    logger.warn({ connections: connections.size }, 'shutting down: cutting what is left');
    connections.closeAll();
    server.closeAllConnections();
  });
  await closed;
  cancelFresh();
  cancelHardStop();
}

/** Resolves at the abort; rejects when the listener breaks before it. */
async function untilAborted(server: Server, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const aborted = once(signal, 'abort', { signal: stop.signal });
  const broken = once(server, 'error', { signal: stop.signal }).then(([error]) => {
    throw error;
  });
  // The loser of the race is told to stop waiting, which rejects it; that is not news.
  aborted.catch(() => {});
  broken.catch(() => {});
  try {
    await Promise.race([aborted, broken]);
  } finally {
    stop.abort();
  }
}
