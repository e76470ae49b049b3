import { parse } from 'yaml';
import { type AccessReviewParts, createAccessReviewAuthorizer } from '../authorization/access-review-authorizer.ts';
import { createAlwaysAllow } from '../authorization/always-allow.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Config } from '../config/config.ts';
import { AnswerWriter } from '../http/answer/answer.ts';
import { createApp } from '../http/app.ts';
import { createMetricsServer } from '../http/connection/metrics-server.ts';
import { createHttpServer, type HttpServer } from '../http/connection/server.ts';
import type { HealthCheck } from '../http/health.ts';
import { createHttpMetrics } from '../http/metrics.ts';
import { connectCluster } from '../kubernetes/cluster.ts';
import type { LostLines } from '../observability/buffered-output.ts';
import { createAuditLogger, type Logger } from '../observability/logger.ts';
import {
  createMetricRegistry,
  createThreadpoolProbe,
  registerLostLines,
  registerMemoryLimit,
} from '../observability/metrics.ts';
import { createSecurityEvents } from '../observability/security-events.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { createListMirrors } from './list-mirrors.ts';
import { toApiServerOptions, toHttpLimits, toMetricsServerOptions, toTokenServiceOptions } from './options.ts';
import { announceReady, createFirstReview, reflectorsCheck } from './readiness.ts';
import { allUpkeep, NO_UPKEEP, type Part, runGroup, type Upkeep } from './run-group.ts';
import { createStalenessAlarm } from './staleness-alarm.ts';
import { createTokenService, type TokenServiceParts } from './token-service.ts';
import { ClusterVersionReader, type Release, type Runtime } from './versions.ts';

export interface ServiceParts extends Pick<TokenServiceParts, 'bcrypt'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Lines that the logger's output has dropped; absent when it drops none. */
  lostLines?(): LostLines;
  /** The memory limit of the container in bytes, as `process.constrainedMemory` reads it; absent when there is none. */
  memoryLimit?(): number;
  readonly release: Release;
  readonly runtime: Runtime;
  /** The variables that name a cluster: `KUBECONFIG`, `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of `api/platform.openapi.yaml`. */
  readonly description: string;
}

export interface Addresses {
  readonly port: number;
  readonly metricsPort: number;
}

interface ServiceEvents {
  /** Called once, when every readiness check holds for the first time. */
  onReady?(addresses: Addresses): void | Promise<void>;
}

export interface Service {
  /**
   * Opens the ports, serves until the signal aborts, then drains and ends. Rejects with one sentence when a port is taken
   * or a part breaks. To be called once.
   */
  run(signal: AbortSignal, events?: ServiceEvents): Promise<void>;
}

/**
 * The composition root: builds every part in order and hands each exactly what it needs. Nothing is asked of the cluster
 * before `run`. Throws when no cluster is configured or a file cannot be used.
 */
export async function createService(config: Config, parts: ServiceParts): Promise<Service> {
  const { clock, random, logger, release, runtime, environment, bcrypt } = parts;
  const registry = createMetricRegistry({ ...release, ...runtime });
  registerLostLines(registry, parts.lostLines);
  registerMemoryLimit(registry, parts.memoryLimit);
  const events = createSecurityEvents(createAuditLogger(logger, config.log.auditLevel), registry);
  const access = { ...config.kubernetes, environment, version: release.version };
  const cluster = await connectCluster(access, { clock, random, logger, registry });
  const version = new ClusterVersionReader({ clock, logger, read: cluster.version });
  const mirrorOptions = { platform: config.platform, ...config.nodes };
  const mirrors = createListMirrors(mirrorOptions, { cluster, clock, random, registry });
  const tokenParts = { cluster, clock, random, logger, registry, events, bcrypt };
  const tokens = createTokenService(toTokenServiceOptions(config), tokenParts);
  const authorization = createAuthorization(config.authorization, {
    reviewer: cluster.reviewer,
    clock,
    random,
    registry,
    logger: logger.child({ apiServer: cluster.apiServer }),
  });
  const shutdown = { began: false, closing: new AbortController() };
  const upkeep = allUpkeep([mirrors.upkeep, tokens.upkeep, authorization.upkeep]);
  const health: HealthCheck[] = [
    ...upkeep.checks,
    reflectorsCheck(upkeep.reflectors),
    { name: 'shutdown', endpoints: ['readyz'], check: () => (shutdown.began ? 'the process is stopping' : undefined) },
  ];
  const limits = toHttpLimits(config.limits);
  const metrics = createHttpMetrics(registry, tokens.verifications);
  const writer = new AnswerWriter(clock, limits.answerTimeoutMs);
  const app = createApp({
    platform: config.platform,
    release: { ...release, ...runtime },
    clusterVersion: version.known,
    authorizationServer: tokens.authorizationServer,
    tokenReviews: tokens.tokenReviews,
    verifier: tokens.verifier,
    authorizer: authorization.authorizer,
    maxDecisionAgeMs: config.authorization.maxStaleness,
    lists: mirrors.lists,
    closing: shutdown.closing.signal,
    health,
    limits,
    trustedProxies: config.authentication.trustedProxies,
    corsOrigins: config.cors.origins,
    clock,
    random,
    logger,
    registry,
    metrics,
    writer,
    descriptions: { platformYaml: parts.description, parseYaml: parse },
  });
  const api = createHttpServer(toApiServerOptions(config.server, config.authentication.tokenReview), app, {
    limits,
    clock,
    random,
    logger,
    registry,
    metrics,
    onDraining: () => {
      shutdown.began = true;
    },
    onClosing: () => shutdown.closing.abort(),
  });
  const metricsServer = createMetricsServer(toMetricsServerOptions(config.server), {
    platform: config.platform,
    limits,
    clock,
    random,
    logger,
    registry,
    metrics,
    writer,
  });
  const ages = { lists: mirrors.upkeep.stalenessMs, revocation: tokens.upkeep.stalenessMs };
  const background = [
    ...upkeep.parts,
    createStalenessAlarm(ages, { clock, logger, events }),
    { name: 'cluster version', run: version.run },
    { name: 'thread pool probe', run: createThreadpoolProbe(registry, clock).run },
  ];
  return createRunning({ api, metrics: metricsServer, background, health, close: cluster.close }, { clock, logger });
}

interface Authorization {
  readonly authorizer: Authorizer;
  readonly upkeep: Upkeep;
}

function createAuthorization({ mode, maxStaleness }: Config['authorization'], parts: AccessReviewParts): Authorization {
  if (mode === 'AlwaysAllow') return { authorizer: createAlwaysAllow(parts.registry), upkeep: NO_UPKEEP };
  const { part, check } = createFirstReview(parts);
  return {
    authorizer: createAccessReviewAuthorizer({ maxStaleMs: maxStaleness }, parts),
    upkeep: { ...NO_UPKEEP, parts: [part], checks: [check] },
  };
}

interface Built {
  readonly api: HttpServer;
  readonly metrics: HttpServer;
  readonly background: readonly Part[];
  readonly health: readonly HealthCheck[];
  close(): Promise<void>;
}

/** Opens both ports or neither: one open port would keep a process alive that has already failed. */
async function listen(api: HttpServer, metrics: HttpServer): Promise<Addresses> {
  const { port: metricsPort } = await metrics.listen();
  try {
    return { port: (await api.listen()).port, metricsPort };
  } catch (error) {
    await metrics.run(AbortSignal.abort());
    throw error;
  }
}

/** The last step once everything is built: listen, run together, end in order. */
function createRunning(built: Built, { clock, logger }: Pick<ServiceParts, 'clock' | 'logger'>): Service {
  const { api, metrics, background, health, close } = built;
  const run: Service['run'] = async (signal, events = {}) => {
    const began = clock.monotonic();
    try {
      const addresses = await listen(api, metrics);
      logger.info(addresses, 'listening');
      const announce = (): void | Promise<void> => {
        logger.info({ ...addresses, tookMs: Math.round(clock.monotonic() - began) }, 'ready');
        return events.onReady?.(addresses);
      };
      // The API port drains first, while the data that it answers from and the metrics port are still running.
      const behind = [
        { name: 'metrics server', run: metrics.run },
        ...background,
        announceReady(health, clock, announce),
      ];
      await runGroup([[{ name: 'API server', run: api.run }], behind], signal);
    } finally {
      await close();
    }
  };
  return { run };
}
