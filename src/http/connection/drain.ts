import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Connections } from './connections.ts';

export interface DrainParts {
  readonly server: Server;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: {
    readonly shutdownDelayMs: number;
    readonly drainMs: number;
    /** How long streams that outlast the drain time may go on; after that they end by themselves. */
    readonly streamDrainMs?: number;
  };
  /** Whether the answer to this request is not cut at the drain time. */
  outlasts(request: IncomingMessage): boolean;
  onDraining(): void;
  readonly onClosing?: (() => void) | undefined;
}

/** A connection that was opened just before the end may still bring its first request within this time. */
const FRESH_MS = 1_000;

/** A websocket that is asked to end has 2 s to do so (`GOODBYE_MS` of src/http/gateway/tunnel.ts). */
const GOODBYE_MS = 2_000;

/**
 * Serves until the signal aborts, then leaves in the order of R-07: readiness fails, serving goes on while load balancers
 * notice, the port closes, streams end, answers in flight are finished, and what is left after the drain time is cut. Some
 * streams outlast it and have a limit of their own.
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
  server.close(() => {}); // ends the timer with which Node looks for overdue requests
}

/**
 * Closes the port; resolves when the last connection is gone. Not by `http.Server.close`: that also cuts connections whose
 * first request is on its way.
 */
function stopAccepting(server: Server): Promise<void> {
  return new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
}

/** Resolves at the abort; rejects when the listener breaks before it. */
async function untilAborted(server: Server, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const aborted = once(signal, 'abort', { signal: stop.signal });
  const broken = once(server, 'error', { signal: stop.signal }).then(([error]) => {
    throw error;
  });
  // The loser of the race is aborted, and so rejects. That is expected.
  aborted.catch(() => {});
  broken.catch(() => {});
  try {
    await Promise.race([aborted, broken]);
  } finally {
    stop.abort();
  }
}
