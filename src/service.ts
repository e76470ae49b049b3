import { parse } from 'yaml';
import { createAccessReviewAuthorizer } from './authorization/access-review-authorizer.ts';
import { createAlwaysAllow } from './authorization/always-allow.ts';
import type { Clock } from './clock.ts';
import { ClusterVersionReader } from './cluster-version.ts';
import type { Config } from './config/config.ts';
import { createApp } from './http/app.ts';
import type { HealthCheck } from './http/health.ts';
import { createMetricsServer } from './http/metrics-server.ts';
import { createHttpServer } from './http/server.ts';
import { connectCluster } from './kubernetes/cluster.ts';
import { createNodeMirror } from './node-mirror.ts';
import { createAuthorizationServer } from './oauth/create-authorization-server.ts';
import { createMemorySessions } from './oauth/memory-sessions.ts';
import { createSigningKeys } from './oauth/signing-keys.ts';
import { createTokenVerifier } from './oauth/token-verifier.ts';
import type { Logger } from './observability/logger.ts';
import { createMetricRegistry, createThreadpoolProbe } from './observability/metrics.ts';
import {
  toApiServerOptions,
  toHttpLimits,
  toMetricsServerOptions,
  toOAuthOptions,
  toPasswordOptions,
} from './options.ts';
import type { Random } from './random.ts';
import { announceReady } from './readiness.ts';
import type { Release } from './release.ts';
import { type Part, runGroup } from './run-group.ts';
import { createUserSources } from './user-sources.ts';
import { createPasswordSignIn } from './users/password-sign-in.ts';
import { createUserDirectory } from './users/user-directory.ts';

export interface ServiceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly release: Release;
  readonly runtime: { readonly nodeVersion: string; readonly platform: string };
  /** As far as it names a cluster: `KUBECONFIG`, `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text of `api/platform.openapi.yaml`. */
  readonly description: string;
}

export interface Addresses {
  readonly port: number;
  readonly metricsPort: number;
}

export interface Service {
  /**
   * Opens the ports, serves until the signal aborts, then drains and ends. `onReady` is called once, when every readiness
   * check holds for the first time. Rejects with one sentence when a port is taken or a part breaks.
   */
  run(signal: AbortSignal, events?: { onReady?(addresses: Addresses): void | Promise<void> }): Promise<void>;
}

/** The composition root: builds every part in order and hands each exactly what it needs. Speaks to nobody yet. */
export async function createService(config: Config, parts: ServiceParts): Promise<Service> {
  const { clock, random, logger, release, runtime } = parts;
  const registry = createMetricRegistry({ ...release, ...runtime });
  const cluster = await connectCluster(
    { ...config.kubernetes, environment: parts.environment, version: release.version },
    { clock, random, logger, registry },
  );
  const { secrets } = cluster;
  const version = new ClusterVersionReader({ clock, logger, read: (signal) => cluster.version(signal) });
  const mirror = createNodeMirror(
    { platform: config.platform, usage: config.nodes.usage },
    { cluster, clock, random, registry },
  );

  const people = createUserSources(config, cluster.inCluster, { secrets, clock, random, logger, registry });
  const users = createUserDirectory(people.sources, { logger });
  const signIn = createPasswordSignIn(toPasswordOptions(config), { users, clock, logger, registry });

  const oauth = toOAuthOptions(config);
  const keys = createSigningKeys(config.keys, { secrets, clock, random, logger, registry });
  const sessions = createMemorySessions({ clock });
  const tokens = { keys, sessions, users, clock, random, logger, registry };
  const verifier = createTokenVerifier(oauth, tokens);
  const authorizationServer = createAuthorizationServer(oauth, { ...tokens, signIn, verifier });
  const authorizer =
    config.authorization.mode === 'AlwaysAllow'
      ? createAlwaysAllow(registry)
      : createAccessReviewAuthorizer({}, { reviewer: cluster.reviewer, clock, logger, registry });

  const shutdown = { began: false };
  const health: HealthCheck[] = [
    ...mirror.checks,
    ...people.checks,
    { name: 'signing-key', endpoints: ['readyz'], check: () => keys.ready() },
    { name: 'shutdown', endpoints: ['readyz'], check: () => (shutdown.began ? 'the process is stopping' : undefined) },
  ];
  const limits = toHttpLimits(config);
  const app = createApp({
    platform: config.platform,
    release: { ...release, ...runtime },
    clusterVersion: version.known,
    authorizationServer,
    verifier,
    authorizer,
    nodes: mirror.lister,
    health,
    limits,
    trustedProxies: config.authentication.trustedProxies,
    corsOrigins: config.cors.origins,
    clock,
    random,
    logger,
    registry,
    descriptions: { platformYaml: parts.description, parseYaml: parse },
  });
  const serving = { limits, clock, random, logger, registry };
  const onDraining = (): void => {
    shutdown.began = true;
  };
  const api = createHttpServer(toApiServerOptions(config), app, { ...serving, onDraining });
  const metrics = createMetricsServer(toMetricsServerOptions(config), { ...serving, platform: config.platform });

  return {
    async run(signal, events = {}) {
      try {
        const addresses = { port: (await api.listen()).port, metricsPort: (await metrics.listen()).port };
        logger.info(addresses, 'listening');
        const began = clock.monotonic();
        const announce = (): void | Promise<void> => {
          logger.info({ ...addresses, tookMs: Math.round(clock.monotonic() - began) }, 'ready');
          return events.onReady?.(addresses);
        };
        const background: Part[] = [
          { name: 'metrics server', run: (s) => metrics.run(s) },
          ...mirror.parts,
          ...people.parts,
          { name: 'signing keys', run: (s) => keys.run(s) },
          { name: 'cluster version', run: version.run },
          { name: 'thread pool probe', run: createThreadpoolProbe(registry, clock).run },
          announceReady(health, clock, announce),
        ];
        await runGroup([[{ name: 'API server', run: (s) => api.run(s) }], background], signal);
      } finally {
        await cluster.close();
      }
    },
  };
}
