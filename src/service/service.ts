import { parse } from 'yaml';
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
import { createCacheBytes } from '../resources/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { createAccountKeeping } from './account-keeping.ts';
import { createAccountPeople } from './account-people.ts';
import { createWrites } from './account-writes.ts';
import { createAccounts } from './accounts.ts';
import { createAuthorization } from './authorization.ts';
import { createGateway } from './gateway.ts';
import { createListMirrors } from './list-mirrors.ts';
import { createLogs } from './logs.ts';
import {
  toAccountKeepingOptions,
  toAccountPeopleOptions,
  toAccountsOptions,
  toApiServerOptions,
  toAuthorizationOptions,
  toGatewayOptions,
  toHttpLimits,
  toLogsOptions,
  toMetricsServerOptions,
  toTokenServiceOptions,
} from './options.ts';
import { announceReady, reflectorsCheck } from './readiness.ts';
import { allUpkeep, NO_UPKEEP, type Part, runGroup } from './run-group.ts';
import { createStalenessAlarm } from './staleness-alarm.ts';
import { createTokenService, type TokenServiceParts } from './token-service.ts';
import { ClusterVersionReader, type Release, type Runtime } from './versions.ts';

export interface ServiceParts extends Pick<TokenServiceParts, 'bcrypt'> {
  readonly clock: Clock;
  readonly random: Random;
  /** The share of the time in which the event loop was busy of late. */
  loopLoad(): number;
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
  /** The text of `api/crd.openapi.yaml`. */
  readonly crdDescription: string;
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
  const logsOptions = toLogsOptions(config);
  const mirrorOptions = { platform: config.platform, needsNamespaces: logsOptions !== undefined, ...config.nodes };
  const exposeBytes = createCacheBytes(registry);
  const mirrors = createListMirrors(mirrorOptions, { cluster, clock, random, exposeBytes });
  const accounts = config.accounts.enabled
    ? createAccounts(toAccountsOptions(config), { cluster, clock, random, registry, exposeBytes })
    : undefined;
  const people = accounts
    ? createAccountPeople(toAccountPeopleOptions(config), {
        accounts,
        cluster,
        clock,
        random,
        logger,
        registry,
        events,
      })
    : undefined;
  const { objects, recorder } = people ?? {};
  const tokenParts = { cluster, clock, random, logger, registry, events, bcrypt, objects, recorder };
  const tokens = createTokenService(toTokenServiceOptions(config), tokenParts);
  const authorization = createAuthorization(toAuthorizationOptions(config), {
    cluster,
    clock,
    random,
    registry,
    logger: logger.child({ apiServer: cluster.apiServer }),
  });
  const writes =
    accounts &&
    people &&
    authorization.reviews &&
    createWrites(
      { reservedNames: config.accounts.reservedNames },
      { accounts, people, tokens, reviews: authorization.reviews, cluster, clock, logger, events },
    );
  const keeping =
    accounts && people
      ? createAccountKeeping(toAccountKeepingOptions(config), {
          accounts,
          people,
          tokens,
          cluster,
          clock,
          random,
          logger,
          events,
        })
      : NO_UPKEEP;
  const shutdown = { began: false, closing: new AbortController() };
  const upkeep = allUpkeep([
    mirrors.upkeep,
    ...(accounts && people ? [accounts.upkeep, people.upkeep] : []),
    tokens.upkeep,
    keeping,
    authorization.upkeep,
  ]);
  const health: HealthCheck[] = [
    ...upkeep.checks,
    reflectorsCheck(upkeep.reflectors),
    { name: 'shutdown', endpoints: ['readyz'], check: () => (shutdown.began ? 'the process is stopping' : undefined) },
  ];
  const limits = toHttpLimits(config);
  const metrics = createHttpMetrics(registry, tokens.verifications);
  const writer = new AnswerWriter(clock, limits.sendTimeoutMs);
  const gateway = config.gateway.enabled
    ? await createGateway(toGatewayOptions(config), { cluster, clock, logger, registry, events })
    : undefined;
  const logs =
    logsOptions &&
    (await createLogs(logsOptions, {
      authorizer: authorization.authorizer,
      namespaces: mirrors.namespaces,
      clock,
      logger,
      registry,
    }));
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
    accounts: accounts && writes && { reads: accounts.readsWith(tokens.users), writes, presenter: accounts.presenter },
    logs,
    gateway,
    closing: shutdown.closing.signal,
    health,
    limits,
    trustedProxies: config.authentication.trustedProxies,
    corsOrigins: config.cors.origins,
    clock,
    random,
    loopLoad: parts.loopLoad,
    logger,
    registry,
    metrics,
    writer,
    descriptions: { platformYaml: parts.description, crdYaml: parts.crdDescription, parseYaml: parse },
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
  const ages = {
    lists: { ...mirrors.upkeep.stalenessMs, ...accounts?.ages.lists },
    revocation: { ...tokens.upkeep.stalenessMs, ...accounts?.ages.revocation, ...people?.upkeep.stalenessMs },
  };
  const background = [
    ...upkeep.parts,
    ...(logs ? [logs.part] : []),
    createStalenessAlarm(ages, { clock, logger, events }),
    { name: 'cluster version', run: version.run },
    { name: 'thread pool probe', run: createThreadpoolProbe(registry, clock).run },
  ];
  const close = async (): Promise<void> => {
    await Promise.all([logs?.close(), cluster.close()]);
  };
  return createRunning({ api, metrics: metricsServer, background, health, close }, { clock, logger });
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
