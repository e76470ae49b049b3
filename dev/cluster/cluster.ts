import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { DiscoveryVersion } from './api/discovery.ts';
import { ServedKinds } from './api/served-kinds.ts';
import type { AggregatedApis } from './custom/aggregated-apis.ts';
import { Evidence } from './evidence.ts';
import { Faults } from './faults.ts';
import type { Identity } from './identity.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { Listener } from './listener.ts';
import { PodLogs } from './logs/pod-logs.ts';
import { ObjectStore, type StoreParts } from './object-store.ts';
import { type Decision, decide, type SubjectAccessReviewSpec } from './rbac.ts';
import { seededRandom } from './seeded-random.ts';
import type { ServerParts } from './server.ts';
import type { TokenAlgorithm } from './token-keys.ts';
import type { TokenReviewSpec } from './token-reviews.ts';
import { TokenSigner } from './token-signer.ts';
import { WatchCache } from './watch-cache.ts';

export interface SimulatedClusterOptions {
  /** Default 0: given by the kernel. Always on 127.0.0.1. */
  readonly port?: number;
  readonly clock?: Clock;
  /** The seed of the uids, and of how old reads at version 0 are. Default 1. */
  readonly seed?: number;
  /** How old a read at version 0 may be, in milliseconds of the clock. Default 50; 0: it is never old. */
  readonly lagMs?: number;
  /** Default 60,000; 0: no bookmarks. */
  readonly bookmarkIntervalMs?: number;
  /** Whether `sendInitialEvents` is served. If not, it is refused with 422, like by a server without the feature. Default true. */
  readonly watchList?: boolean;
  /** The versions of aggregated discovery that are served. None: it is refused, as by servers before 1.26. Default `v2` alone, as 1.34 does. */
  readonly aggregatedDiscovery?: readonly DiscoveryVersion[];
  /** Bearer tokens besides the administrator's, and the user that each stands for. */
  readonly tokens?: Readonly<Record<string, Identity>>;
  /** Decides SubjectAccessReviews. Default: RBAC over the role and binding objects in the store. */
  readonly authorize?: (spec: SubjectAccessReviewSpec) => boolean;
  /** Returns the status of a TokenReview, or `undefined` for the usual one. Default: always the usual one. */
  readonly reviewToken?: (spec: TokenReviewSpec) => object | undefined;
  /** `gitVersion` of `/version`. Default v1.34.4. */
  readonly version?: string;
  /** Names the group of the custom resources `users` and `loginrecords`: `iam.<platform>.io`. Default `gatehouse`. */
  readonly platform?: string;
}

/** A Kubernetes API server in this process: plain HTTP/1.1 on loopback, everything in memory. */
export interface SimulatedCluster {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** A random token, made at the start. Its user is a member of `system:masters`. */
  readonly adminToken: string;
  /** May be changed: a token that is added or deleted counts from the next request on. */
  readonly tokens: Map<string, Identity>;
  /** The state, without HTTP in between. */
  readonly objects: ObjectStore;
  /** What the containers of pods write. */
  readonly podLogs: PodLogs;
  /** A token of an existing service account, like the one that is mounted into a pod. It is valid for an hour. */
  serviceAccountToken(namespace: string, name: string, audiences: readonly string[]): string;
  /** Makes a new key, which signs service account tokens from now on. The others stay published. Returns its `kid`. */
  addServiceAccountKey(alg: TokenAlgorithm): string;
  /** Refuses the tokens of all keys but the newest, and no longer publishes the old keys. */
  retireServiceAccountKeys(): void;
  /** APIs that another server would serve. An APIService that was not put in place here is away. */
  readonly aggregatedApis: AggregatedApis;
  readonly faults: Faults;
  readonly evidence: Evidence;
  /** Bytes sent to all clients since the start, headers included. */
  bytesSent(): number;
  /**
   * Reads at version 0 see everything that is stored now and nothing that is written later, until the returned function is called.
   */
  holdWatchCache(): () => void;
  /** The text of a kubeconfig file; the administrator's token unless another is given. */
  kubeconfig(token?: string): string;
  /** Drops the history up to now: older versions are answered 410. Open watches go on. */
  compact(): void;
  /**
   * Resets every connection and refuses new ones for `downMs` of the clock. Then the same port serves the same state.
   */
  restart(downMs?: number): Promise<void>;
  /**
   * Acts like an etcd that is restored from a backup: the state and the counter go back to that version, and every
   * connection is reset.
   */
  restore(resourceVersion: string): void;
  /** Ends every connection and frees the port. */
  stop(): Promise<void>;
}

/** The watch cache of a quiet kube-apiserver on loopback is a few milliseconds behind etcd, that of a busy one more. */
const DEFAULT_LAG_MS = 50;

export async function startSimulatedCluster(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const adminToken = randomBytes(16).toString('hex');
  const parts = createParts(options, adminToken);
  const { store, clock, tokens, faults, evidence, signer } = parts;
  const listener = new Listener(parts);
  await listener.open(options.port ?? 0);
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    url,
    adminToken,
    tokens,
    objects: store,
    podLogs: parts.podLogs,
    serviceAccountToken: (namespace, name, aud) => {
      const uid = store.get('serviceaccounts', `${namespace}/${name}`)?.metadata.uid;
      if (!uid) throw new Error(`there is no service account ${namespace}/${name}`);
      return signer.issue({ namespace, name, uid }, { aud, lifeSeconds: 3_600 }).token;
    },
    addServiceAccountKey: (alg) => signer.addKey(alg),
    retireServiceAccountKeys: () => signer.retireKeys(),
    aggregatedApis: store.aggregatedApis,
    faults,
    evidence,
    bytesSent: () => listener.bytesSent,
    holdWatchCache: () => parts.watchCache.hold(),
    kubeconfig: (token = adminToken) => kubeconfigText(url, token),
    compact: () => store.compact(),
    restart: async (downMs = 0) => {
      await listener.close();
      await clock.sleep(downMs);
      await listener.open(listener.port);
    },
    restore: (resourceVersion) => {
      store.restore(Number(resourceVersion));
      listener.resetConnections();
    },
    stop: () => listener.close(),
  };
}

function createParts(options: SimulatedClusterOptions, adminToken: string) {
  const clock = options.clock ?? systemClock;
  const random = seededRandom(options.seed ?? 1);
  const admin: Identity = { username: 'kubernetes-admin', groups: ['system:masters'] };
  const kinds = new ServedKinds(options.platform ?? 'gatehouse');
  const store = createStore({ clock, random, kinds });
  // A random source of its own, because a read must not change the uids of objects that are created after it.
  const lag = { random: seededRandom(options.seed ?? 1), lagMs: options.lagMs ?? DEFAULT_LAG_MS };
  return {
    store,
    watchCache: new WatchCache({ store, clock, ...lag }),
    podLogs: new PodLogs(store, clock),
    clock,
    random,
    kinds,
    tokens: new Map<string, Identity>([...Object.entries(options.tokens ?? {}), [adminToken, admin]]),
    decide: deciderOf(options, store),
    signer: new TokenSigner(clock, random),
    reviewToken: options.reviewToken ?? (() => undefined),
    version: options.version ?? 'v1.34.4',
    faults: new Faults(),
    evidence: new Evidence(),
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    watchList: options.watchList ?? true,
    aggregatedDiscovery: options.aggregatedDiscovery ?? ['v2'],
  } satisfies ServerParts;
}

/** Creates the store, with the namespaces that every cluster has. */
function createStore(parts: StoreParts): ObjectStore {
  const store = new ObjectStore(parts);
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    const labels = { 'kubernetes.io/metadata.name': name };
    store.create('namespaces', {
      metadata: { name, labels },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  }
  return store;
}

function deciderOf(
  { authorize }: SimulatedClusterOptions,
  store: ObjectStore,
): (spec: SubjectAccessReviewSpec) => Decision {
  return authorize ? (spec) => ({ allowed: authorize(spec) }) : (spec) => decide(store, spec);
}
