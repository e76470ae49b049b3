import type { Config } from '../config/config.ts';
import type { HttpServerOptions } from '../http/connection/server.ts';
import type { HttpLimits } from '../http/limits/http-limits.ts';

const KIB = 1024;
const USUAL_HEADER_BYTES = 16 * KIB;
/**
 * The command of an `exec` is in the request line, for which kube-apiserver accepts 1 MiB by default. Our limit is lower, because a
 * connection can hold that much memory for 10 s before we know its user. With 64 KiB, 1,000 connections of one address hold 64 MiB,
 * an eighth of the chart's memory limit.
 */
const GATEWAY_HEADER_BYTES = 64 * KIB;

/** The limits of every request. */
export function toHttpLimits({ limits, gateway }: Pick<Config, 'limits' | 'gateway'>): HttpLimits {
  const { maxHeaderBytes, headersTimeout, bodyTimeout, keepAliveTimeout, answerTimeout, sendTimeout, ...counts } =
    limits;
  return {
    ...counts,
    maxHeaderBytes: maxHeaderBytes ?? (gateway.enabled ? GATEWAY_HEADER_BYTES : USUAL_HEADER_BYTES),
    maxHeaderBytesElsewhere: maxHeaderBytes ?? USUAL_HEADER_BYTES,
    headersTimeoutMs: headersTimeout,
    bodyTimeoutMs: bodyTimeout,
    keepAliveTimeoutMs: keepAliveTimeout,
    answerTimeoutMs: answerTimeout,
    sendTimeoutMs: sendTimeout,
  };
}

/** How long answers in flight may go on at a shutdown. With the delay before it, 15 s + 30 s, it fits into the pod's grace period. */
const DRAIN_MS = 30_000;

/** The options of the API port. */
export function toApiServerOptions(
  server: Config['server'],
  { clientCAFile }: Config['authentication']['tokenReview'],
): HttpServerOptions {
  const { tls, ...place } = listening(server);
  return {
    ...place,
    ...(tls ? { tls: { ...tls, ...(clientCAFile === undefined ? {} : { clientCAFile }) } } : {}),
    port: server.port,
    shutdownDelayMs: server.shutdownDelay,
    drainMs: DRAIN_MS,
    streamDrainMs: server.streamDrain,
  };
}

/** The options of the metrics port. It closes when the API port has drained, and has nothing to wait for then. */
export function toMetricsServerOptions(server: Config['server']): HttpServerOptions {
  return { ...listening(server), port: server.metricsPort, shutdownDelayMs: 0, drainMs: 1000 };
}

function listening({ address, tls }: Config['server']): Pick<HttpServerOptions, 'address' | 'tls'> {
  return { ...(address === undefined ? {} : { address }), ...(tls === undefined ? {} : { tls }) };
}
