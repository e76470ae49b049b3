import type { Config } from '../config/config.ts';
import type { HealthCheck } from '../http/health.ts';
import { connectCluster } from '../kubernetes/cluster.ts';
import { createAuditRecords } from '../observability/audit-records.ts';
import type { LostLines } from '../observability/buffered-output.ts';
import { createAuditLogger, createRecordOutput, type Logger } from '../observability/logger.ts';
import {
  createMetricRegistry,
  createThreadpoolProbe,
  registerLostLines,
  registerMemoryLimit,
} from '../observability/metrics.ts';
import { type AuditTrail, createAuditLines, createSecurityEvents } from '../observability/security-events.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { createAbout, makeFamilies } from './families.ts';
import { allUpkeep, type Family, NO_UPKEEP, type Shared } from './family.ts';
import { createPage, type PageParts } from './page.ts';
import { type Addresses, createPorts, listen, type Ports, type ProcessState } from './ports.ts';
import { announceReady, reflectorsCheck } from './readiness.ts';
import { type Part, runGroup } from './run-group.ts';
import { createStalenessAlarm } from './staleness-alarm.ts';
import type { TokenServiceParts } from './token-service.ts';
import type { Release, Runtime } from './versions.ts';

export interface ServiceParts extends Pick<TokenServiceParts, 'bcrypt'>, Pick<PageParts, 'page'> {
  readonly clock: Clock;
  readonly random: Random;
  /** The share of the recent time in which the event loop was busy. */
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
  /** Functions that make further families, after those of the configuration. */
  readonly families?: readonly ((shared: Shared) => Family | Promise<Family>)[];
}

interface ServiceEvents {
  /** Called once, when every readiness check holds for the first time. */
  onReady?(addresses: Addresses): void | Promise<void>;
}

export interface Service {
  /**
   * Opens the ports, serves until the signal aborts, then drains and ends. Rejects with one sentence when a port is taken
   * or a part breaks. Call this once.
   */
  run(signal: AbortSignal, events?: ServiceEvents): Promise<void>;
}

/**
 * The composition root: connects the cluster, makes the families of the configuration in order, and folds what they bring into two
 * ports and one group of parts. It sends the cluster no request before `run`. Throws when no cluster is configured or a file
 * cannot be used; what was opened until then is closed.
 */
export async function createService(config: Config, parts: ServiceParts): Promise<Service> {
  await using opening = new AsyncDisposableStack();
  const shared = createShared(config, parts);
  const access = { ...config.kubernetes, environment: parts.environment, version: parts.release.version };
  const cluster = opening.adopt(await connectCluster(access, shared), (connected) => connected.close());
  const families: Family[] = [];
  const add = <Made extends Family>(family: Made): Made => {
    families.push(family);
    opening.defer(() => closed(family, shared.logger));
    return family;
  };
  const judges = await makeFamilies(
    config,
    { ...shared, cluster, bcrypt: parts.bcrypt, memoryLimit: parts.memoryLimit },
    add,
  );
  if (config.page.enabled) add(createPage(config, { ...parts, sessions: judges.tokens.pageSessions }));
  for (const make of parts.families ?? []) add(await make(shared));
  const state: ProcessState = { isStopping: false, closing: new AbortController() };
  const checks = [...checksOf(families), stoppingCheck(state)];
  add(createAbout(config, { ...parts, ...shared, cluster, checks }));
  const { loopLoad } = parts;
  const ports = createPorts(config, { ...shared, ...judges, families, state, loopLoad });
  const { parts: background, ages } = allUpkeep(families.map(({ upkeep = NO_UPKEEP }) => upkeep));
  const behind = [
    ...background,
    createStalenessAlarm(ages, shared),
    { name: 'thread pool probe', run: createThreadpoolProbe(shared.registry, shared.clock).run },
  ];
  return createRunning({ ...ports, behind, checks, opened: opening.move() }, shared);
}

/** Closes a family. A failure is logged, so that it cannot hide why everything ends. */
const closed = async (family: Family, logger: Logger): Promise<void> => {
  try {
    await family.close?.();
  } catch (error) {
    logger.warn({ err: error }, 'a connection could not be closed');
  }
};

function createShared(config: Config, parts: ServiceParts): Shared {
  const { clock, random, logger } = parts;
  const registry = createMetricRegistry({ ...parts.release, ...parts.runtime });
  registerLostLines(registry, parts.lostLines);
  registerMemoryLimit(registry, parts.memoryLimit);
  const events = createSecurityEvents(createTrail(config, parts), registry);
  return { clock, random, logger, registry, events };
}

function createTrail({ log, platform }: Config, { clock, random, logger }: ServiceParts): AuditTrail {
  if (log.auditFormat === 'gatehouse') return createAuditLines(createAuditLogger(logger, log.auditLevel));
  const output = createRecordOutput(logger, log.auditLevel);
  return createAuditRecords({ output, domain: `${platform}.io`, clock, random });
}

const checksOf = (families: readonly Family[]): HealthCheck[] => {
  const { checks, reflectors } = allUpkeep(families.map(({ upkeep = NO_UPKEEP }) => upkeep));
  return [...checks, reflectorsCheck(reflectors)];
};

const stoppingCheck = (state: ProcessState): HealthCheck => ({
  name: 'shutdown',
  endpoints: ['readyz'],
  check: () => (state.isStopping ? 'the process is stopping' : undefined),
});

interface Built extends Ports {
  readonly behind: readonly Part[];
  readonly checks: readonly HealthCheck[];
  readonly opened: AsyncDisposableStack;
}

/** The last step once everything is built: listen, run together, end in order. */
function createRunning(built: Built, { clock, logger }: Pick<Shared, 'clock' | 'logger'>): Service {
  const { api, metrics, behind, checks, opened } = built;
  const run: Service['run'] = async (signal, events = {}) => {
    await using _ = opened;
    const began = clock.monotonic();
    const addresses = await listen({ api, metrics });
    logger.info(addresses, 'listening');
    const announce = (): void | Promise<void> => {
      logger.info({ ...addresses, tookMs: Math.round(clock.monotonic() - began) }, 'ready');
      return events.onReady?.(addresses);
    };
    // The API port drains first, while the data that it answers from and the metrics port are still running.
    const later = [{ name: 'metrics server', run: metrics.run }, ...behind, announceReady(checks, clock, announce)];
    await runGroup([[{ name: 'API server', run: api.run }], later], signal);
  };
  return { run };
}
