import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { GOODBYE_MS } from '../limits/http-limits.ts';
import type { Connections } from './connections.ts';

export interface DrainParts {
  readonly server: Server;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: {
    readonly shutdownDelayMs: number;
    readonly drainMs: number;
    /** How long streams that may outlast `drainMs` go on. The gateway ends them then; what is left is cut after `GOODBYE_MS` more. */
    readonly streamDrainMs?: number;
  };
  /** Whether the answer to this request may outlast `drainMs`. */
  outlasts(request: IncomingMessage): boolean;
  onDraining(): void;
  readonly onClosing?: (() => void) | undefined;
}

/** A connection that was opened just before the port closed may still send its first request within this time. */
const FRESH_MS = 1_000;

/**
 * Serves until the signal aborts, then shuts down in the order of R-07 (docs/promises.md). Readiness fails, and serving goes on while
 * load balancers notice. Then the port closes, streams end, answers in flight are finished, and connections that are left after the
 * drain time are cut. Some streams may outlast the drain time and have their own limit.
 */
export async function drain(parts: DrainParts, signal: AbortSignal): Promise<void> {
  const { server, connections, clock, logger, options } = parts;
  await untilAborted(server, signal);
  parts.onDraining();
  connections.drain();
  logger.info({ delayMs: options.shutdownDelayMs }, 'shutting down: not ready any more, still serving');
  await clock.sleep(options.shutdownDelayMs);
  const closed = stopAccepting(server);
  connections.closeIdle(false);
  parts.onClosing?.();
  logger.info({ connections: connections.size }, 'shutting down: not accepting any more');
  const cancelFresh = clock.after(FRESH_MS, () => connections.closeIdle(true));
  const cut = (mayGoOn?: (request: IncomingMessage) => boolean): void => {
    logger.warn({ connections: connections.size }, 'shutting down: cutting what is left');
    connections.closeAll(mayGoOn);
  };
  const { drainMs, streamDrainMs = 0 } = options;
  const cancelStop = clock.after(drainMs, () => cut(parts.outlasts));
  const cancelHardStop = clock.after(Math.max(drainMs, streamDrainMs + GOODBYE_MS), () => cut());
  await closed;
  cancelFresh();
  cancelStop();
  cancelHardStop();
  server.close(() => {}); // stops the timer with which Node checks for overdue requests
}

/**
 * Closes the port; resolves when the last connection is gone. It does not use `http.Server.close`, because that also closes
 * connections whose first request is on its way.
 */
function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
}

/** Resolves when the signal aborts; rejects when the listener breaks before that. */
async function untilAborted(server: Server, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const aborted = once(signal, 'abort', { signal: stop.signal });
  const broken = once(server, 'error', { signal: stop.signal }).then(([error]) => {
    throw error;
  });
  // The promise that loses the race is aborted and rejects. That is expected.
  aborted.catch(() => {});
  broken.catch(() => {});
  try {
    await Promise.race([aborted, broken]);
  } finally {
    stop.abort();
  }
}
