import type { Registry } from 'prom-client';
import type { LastProof } from '../data-age.ts';
import type { Logger } from '../observability/logger.ts';
import { Backoff } from '../runtime/backoff.ts';
import { type Clock, withTimeLimit } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { TimeSlices } from '../runtime/time-slices.ts';
import type { SecretRecords, SecretStore } from '../secret-store.ts';
import type { ClusterAccess } from './access/cluster-access.ts';
import { CredentialSource } from './access/credentials.ts';
import { type AccessOptions, findAccess } from './access/find-access.ts';
import { NO_CHAIN } from './access/impersonation.ts';
import { ApiClient, ClusterError } from './client/api-client.ts';
import { ConnectionPool } from './client/connection-pool.ts';
import { type DiscoveryReader, HttpDiscovery } from './discovery/discovery-reader.ts';
import { createSecretLag, ReflectorMetricsFamily, RequestMetrics, UNMEASURED } from './metrics.ts';
import type { ClusterObjects, ListedObjects, ObjectCollection } from './objects/cluster-objects.ts';
import { HttpClusterObjects } from './objects/http-cluster-objects.ts';
import { Passage } from './passage/passage.ts';
import { createHttpListerWatcher, type WatchedResource } from './reflector/http-lister-watcher.ts';
import { type Reflector, StoreReflector } from './reflector/reflector.ts';
import { type CheckPlan, SHORTEST_LONGEST_PERIOD_MS } from './reflector/self-check.ts';
import type { ReflectedStore, StoredEntry } from './reflector/store.ts';
import { AccessReviews, TokenReviews } from './reviews.ts';
import { ClusterSecretRecords, SecretMirror } from './secrets/secret-records.ts';
import { SecretRequests } from './secrets/secret-requests.ts';
import { ClusterSecrets } from './secrets/secrets.ts';

/** Short, because `/version` costs the API server nothing. */
const VERSION_LIMIT_MS = 5_000;
/** Short, because the API server makes the key set when it starts, and a request with a token may wait for it. */
const KEYS_LIMIT_MS = 3_000;

/**
 * A caller waits for the connection, so its time limit is shorter than for our own. Callers' open streams stay open when the
 * TLS material changes.
 */
const PASSAGE_LIMITS = { connectMs: 5_000, oldWatches: 'keep' } as const;

export interface ClusterOptions extends AccessOptions {
  /** The namespace of our Secrets. Default: the pod's, else that of the kubeconfig's context, else `default`. */
  readonly namespace?: string | undefined;
  /** Named in `User-Agent: gatehouse/<version>`. */
  readonly version?: string | undefined;
}

export interface ClusterParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
}

interface MirroredSecrets {
  readonly records: SecretRecords;
  /** Keeps the records current. */
  readonly reflector: Reflector;
}

/** The cluster that this server stands in front of. */
export interface Cluster {
  /** The API server's address without credentials, which log lines about its failures name. */
  readonly apiServer: string;
  readonly inCluster: boolean;
  readonly namespace: string;
  readonly secrets: SecretStore & {
    /** The right to this Secret that we lack, in the words of the cluster's last 403. */
    missingRight(name: string): string | undefined;
  };
  readonly reviewer: AccessReviews;
  readonly tokenReviewer: TokenReviews;
  /** Which kinds the cluster serves. */
  readonly discovery: DiscoveryReader;
  /** Reads and writes the objects of one collection. */
  objects(collection: ObjectCollection): ClusterObjects & ListedObjects;
  /**
   * Mirrors the Secrets of our namespace that carry these labels. At most once per `name`, which labels the reflector's
   * metrics. `exposeLag`, for one mirror only, creates a metric of how late the watch shows our own writes.
   */
  mirrorSecrets(
    name: string,
    labels: Readonly<Record<string, string>>,
    options?: { readonly exposeLag?: boolean },
  ): MirroredSecrets;
  /** Exposes the age of data without a reflector in the same metric as the age of a reflector. `resource` is its label. */
  exposeStaleness(resource: string, proof: LastProof): void;
  /** At most one measured reflector per resource name: the name labels its metrics. */
  reflect<E extends StoredEntry>(resource: WatchedResource, store: ReflectedStore<E>, plan: CheckPlan): Reflector;
  /** Whether the API server compares its own cache with etcd: Kubernetes 1.34 and later. False when it does not answer in time. */
  checksItsCache(signal: AbortSignal): Promise<boolean>;
  /** `GET /version`. Rejects when the cluster does not answer within 5 s. */
  version(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** The JWK set by which service account tokens are verified. Rejects if the cluster does not send it within 3 s. */
  serviceAccountKeys(signal: AbortSignal): Promise<unknown>;
  /**
   * Opens the passage, which passes users' calls on to the API server over connections of its own. Call it at most once. Rejects
   * with one sentence if our own requests impersonate a user, because impersonation cannot be chained.
   */
  openPassage(): Promise<Passage>;
  /** Ends every request in flight. */
  close(): Promise<void>;
}

/**
 * Finds the cluster and how to connect to it. It makes no connection yet, so an unreachable cluster is no error here.
 * Throws an `Error` with one sentence if no access is configured or the configured one cannot be read.
 */
export async function connectCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  const { clock, random, registry } = parts;
  const access = await findAccess(options);
  const apiServer = addressOf(access.server);
  const logger = parts.logger.child({ apiServer });
  for (const warning of access.warnings ?? []) logger.warn(warning);
  const connections = await connect(access, options, { clock, logger, registry });
  const { client } = connections;
  logRoute(access, logger);
  const namespace = options.namespace || access.namespace || 'default';
  const closing = new AbortController();
  const reflectors = new ReflectorMetricsFamily(registry);
  const requests = new SecretRequests({ client, namespace, clock, closed: closing.signal });
  const slices = new TimeSlices(clock);
  const reflect: Cluster['reflect'] = (resource, store, plan) => {
    const { name, isOptional, isMeasured = true, since, wrap = (source) => source } = resource;
    const unshared = createHttpListerWatcher({ client, slices }, resource);
    const source = wrap(unshared);
    const past = since === undefined ? undefined : { since, source: unshared };
    const metrics = isMeasured ? reflectors.of(name, { isOptional }) : UNMEASURED;
    return new StoreReflector({ name, source, store, clock, random, slices, logger, metrics, plan, past });
  };
  const version: Cluster['version'] = (signal) =>
    withTimeLimit(clock, { ms: VERSION_LIMIT_MS, signals: [signal] }, (limited) => readVersion(client, limited));
  return {
    apiServer,
    inCluster: access.inCluster,
    namespace,
    reviewer: new AccessReviews(client),
    tokenReviewer: new TokenReviews(client),
    discovery: new HttpDiscovery({ client, clock, closed: closing.signal }),
    secrets: new ClusterSecrets({
      requests,
      clock,
      logger,
      watcherOf: (fieldSelector) =>
        createHttpListerWatcher({ client, slices }, { path: requests.path, fieldSelector, name: 'secrets' }),
      newBackoff: () => new Backoff(clock, random),
    }),
    objects: (collection) => new HttpClusterObjects(collection, { client, clock, closed: closing.signal }),
    mirrorSecrets: (name, labels, options) =>
      mirrorSecrets({ name, labels, ...options }, { requests, namespace, clock, registry, reflect }),
    exposeStaleness: (resource, proof) => reflectors.exposeStaleness(resource, () => clock.monotonic() - proof.at),
    reflect,
    version,
    checksItsCache: (signal) => version(signal).then(isOfServerThatChecks, () => false),
    serviceAccountKeys: (signal) =>
      withTimeLimit(clock, { ms: KEYS_LIMIT_MS, signals: [signal] }, (limited) => readKeys(client, limited)),
    openPassage: connections.openPassage,
    close() {
      closing.abort();
      return connections.close();
    },
  };
}

/** The connections to the API server: our own, which the client uses, and those of the passage once it is open. */
interface Connections extends Pick<Cluster, 'openPassage' | 'close'> {
  readonly client: ApiClient;
}

async function connect(
  access: ClusterAccess,
  { environment, version }: ClusterOptions,
  { clock, logger, registry }: Omit<ClusterParts, 'random'>,
): Promise<Connections> {
  const { server, impersonation, proxy } = access;
  const credentials = new CredentialSource(access, { clock, logger, environment });
  await credentials.load();
  const pool = await ConnectionPool.load(proxy);
  const pools = [pool];
  const metrics = new RequestMetrics(registry, () => pools.reduce((sum, { connections }) => sum + connections, 0));
  const userAgent = version ? `gatehouse/${version}` : 'gatehouse';
  return {
    client: new ApiClient({ server, userAgent, impersonation, credentials, pool, metrics, clock }),
    async openPassage() {
      if (impersonation) throw new Error(NO_CHAIN);
      const own = await ConnectionPool.load(proxy, PASSAGE_LIMITS);
      pools.push(own);
      return new Passage({ server, credentials, pool: own, metrics, clock });
    },
    async close() {
      await Promise.all(pools.map((open) => open.close()));
    },
  };
}

/** Logs the proxy in front of the API server and the user that our requests impersonate, if any. */
function logRoute({ proxy, impersonation }: ClusterAccess, logger: Logger): void {
  if (proxy) logger.info({ proxy: proxy.host }, 'the API server is reached through a proxy');
  if (impersonation)
    logger.info({ user: impersonation['impersonate-user'] }, 'we impersonate another user at the API server');
}

/** A kubeconfig's URL may hold a name and a password. */
function addressOf(server: string): string {
  const { origin, pathname } = new URL(server);
  return origin + pathname.replace(/\/$/, '');
}

function mirrorSecrets(
  {
    name,
    labels,
    exposeLag,
  }: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly exposeLag?: boolean;
  },
  parts: Pick<Cluster, 'namespace' | 'reflect'> & {
    readonly requests: SecretRequests;
    readonly clock: Clock;
    readonly registry: Registry;
  },
): MirroredSecrets {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const lag = exposeLag ? createSecretLag(parts.registry) : undefined;
  const mirror = new SecretMirror({ clock: parts.clock, observeLag: (seconds) => lag?.observe(seconds) });
  const plan = { longestPeriodMs: SHORTEST_LONGEST_PERIOD_MS };
  const reflector = parts.reflect({ path: parts.requests.path, name, labelSelector }, mirror, plan);
  const { requests, namespace } = parts;
  return {
    records: new ClusterSecretRecords({ requests, namespace, labels, mirror, freshness: reflector }),
    reflector,
  };
}

async function readVersion(client: ApiClient, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const response = await client.json({ method: 'GET', path: '/version', purpose: 'version' }, signal);
  const { status, body } = response;
  if (status !== 200 || typeof body !== 'object' || body === null) throw new ClusterError('the version', response);
  return body as Record<string, unknown>;
}

/** RFC 7517 8.5.2. The API server answers 406 when it is asked for JSON only. */
const JWK_SET = 'application/jwk-set+json';

/** Every service account may read them: Kubernetes binds `system:service-account-issuer-discovery` to all of them. */
async function readKeys(client: ApiClient, signal: AbortSignal): Promise<unknown> {
  const path = '/openid/v1/jwks';
  const response = await client.json({ method: 'GET', path, purpose: 'keys', accept: JWK_SET }, signal);
  if (response.status !== 200) throw new ClusterError('the service account keys', response);
  return response.body;
}

/**
 * From 1.34 on kube-apiserver compares each of its watch caches with etcd every five minutes, and answers no list from
 * a snapshot that differs (feature gate `DetectCacheInconsistency`, on by default; KEP-4988). Reading the gate itself
 * needs rights on the server's metrics.
 */
const SINCE = { major: 1, minor: 34 };

/** `version` is the answer of `/version`. A server that emulates an older release has the features of that release. */
export function isOfServerThatChecks(version: Readonly<Record<string, unknown>>): boolean {
  const major = numberIn(version['emulationMajor'] || version['major']);
  const minor = numberIn(version['emulationMinor'] || version['minor']);
  return major > SINCE.major || (major === SINCE.major && minor >= SINCE.minor);
}

/** Some providers write `34+`. Returns 0 for text that is no number. */
const numberIn = (text: unknown): number => Number(/^\d+/.exec(String(text))?.[0] ?? 0);
