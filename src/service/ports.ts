import type { Config } from '../config/config.ts';
import { AnswerWriter } from '../http/answer/answer.ts';
import { createApp } from '../http/app.ts';
import { createMetricsServer } from '../http/connection/metrics-server.ts';
import { createHttpServer, type HttpServer } from '../http/connection/server.ts';
import { createHttpMetrics } from '../http/metrics.ts';
import { createPageAuthentication, type PageAuthentication } from '../http/page/page-authentication.ts';
import { CollectedCallerChanges } from '../http/watch/caller-changes.ts';
import type { Judges } from './families.ts';
import type { Family, Shared } from './family.ts';
import { toApiServerOptions, toHttpLimits, toMetricsServerOptions } from './http-options.ts';

export interface Addresses {
  readonly port: number;
  readonly metricsPort: number;
}

/** Whether the process is shutting down. */
export interface ProcessState {
  /** True as soon as the signal to stop has come. */
  isStopping: boolean;
  /** Aborts when the API port has closed. */
  readonly closing: AbortController;
}

export interface PortsParts extends Shared, Judges {
  readonly families: readonly Family[];
  readonly state: ProcessState;
  /** The share of the recent time in which the event loop was busy. */
  loopLoad(): number;
}

/** The API port and the metrics port. */
export interface Ports {
  readonly api: HttpServer;
  readonly metrics: HttpServer;
}

/** Makes both ports. The API port serves the routes of all families. */
export function createPorts(config: Config, parts: PortsParts): Ports {
  const { tokens, families, state, clock, registry } = parts;
  const limits = toHttpLimits(config);
  const metrics = createHttpMetrics(registry, tokens.verifications);
  const http = { ...parts, limits, metrics };
  const callerChanges = new CollectedCallerChanges(clock);
  tokens.onCallerChange((user) => callerChanges.note(user));
  const writer = new AnswerWriter(clock, limits.sendTimeoutMs);
  const app = createApp({
    ...http,
    platform: config.platform,
    families: families.flatMap(({ routes }) => routes ?? []),
    verifier: tokens.verifier,
    callerChanges,
    page: config.page.enabled ? pageAuthentication(config, parts) : undefined,
    maxDecisionAgeMs: config.authorization.maxStaleness,
    trustedProxies: config.authentication.trustedProxies,
    corsOrigins: config.cors.origins,
    closing: state.closing.signal,
    writer,
  });
  const onDraining = (): void => {
    state.isStopping = true;
  };
  const api = toApiServerOptions(config.server, config.authentication.tokenReview);
  return {
    api: createHttpServer(api, app, { ...http, onDraining, onClosing: () => state.closing.abort() }),
    metrics: createMetricsServer(toMetricsServerOptions(config.server), { ...http, platform: config.platform, writer }),
  };
}

const pageAuthentication = ({ platform, authentication }: Config, { tokens, random }: PortsParts): PageAuthentication =>
  createPageAuthentication({
    platform,
    issuer: authentication.oauthOptions.issuer,
    callers: tokens.pageSessions,
    random,
  });

/** Opens both ports or neither: one open port would keep a process alive that has already failed. */
export async function listen({ api, metrics }: Ports): Promise<Addresses> {
  const { port: metricsPort } = await metrics.listen();
  try {
    return { port: (await api.listen()).port, metricsPort };
  } catch (error) {
    await metrics.run(AbortSignal.abort());
    throw error;
  }
}
