import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, systemClock } from '../../src/clock.ts';
import { Evidence } from './evidence.ts';
import { Faults } from './faults.ts';
import type { Identity } from './identity.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { ObjectStore } from './object-store.ts';
import { type Decision, decide, type SubjectAccessReviewSpec } from './rbac.ts';
import { seededRandom } from './seeded-random.ts';
import { type ServerParts, serve } from './server.ts';

export interface SimulatedClusterOptions {
  /** Default 0: given by the kernel. Always on 127.0.0.1. */
  readonly port?: number;
  readonly clock?: Clock;
  /** Decides the uids. Default 1. */
  readonly seed?: number;
  /** Default 60,000; 0: no bookmarks. */
  readonly bookmarkIntervalMs?: number;
  /** Default true: `sendInitialEvents` is served; false: refused with 422, as where the feature is off. */
  readonly watchList?: boolean;
  /** Bearer tokens besides the administrator's, with who they stand for. */
  readonly tokens?: Readonly<Record<string, Identity>>;
  /** Decides SubjectAccessReviews. Default: RBAC over the role and binding objects in the store. */
  readonly authorize?: (spec: SubjectAccessReviewSpec) => boolean;
  /** `gitVersion` of `/version`. Default v1.34.4. */
  readonly version?: string;
}

/** A Kubernetes API server in this process: plain HTTP/1.1 on loopback, everything in memory. */
export interface SimulatedCluster {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Made at the start; a member of `system:masters`. */
  readonly adminToken: string;
  /** Live: a token added or deleted counts from the next request on. */
  readonly tokens: Map<string, Identity>;
  /** The state, without HTTP in between. */
  readonly objects: ObjectStore;
  readonly faults: Faults;
  readonly evidence: Evidence;
  /** The text of a kubeconfig file; the administrator's token unless another is given. */
  kubeconfig(token?: string): string;
  /** The history up to now is gone: older versions are answered 410. Open watches go on. */
  compact(): void;
  /** Resets every connection and refuses new ones for `downMs` of the clock; then the same port, the same state. */
  restart(downMs?: number): Promise<void>;
  /** As an etcd restored from a backup: the state and the counter go back to that version, every connection is reset. */
  restore(resourceVersion: string): void;
  /** Ends every connection and frees the port. */
  stop(): Promise<void>;
}

export async function startSimulatedCluster(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const clock = options.clock ?? systemClock;
  const random = seededRandom(options.seed ?? 1);
  const adminToken = randomBytes(16).toString('hex');
  const admin: Identity = { username: 'kubernetes-admin', groups: ['system:masters'] };
  const tokens = new Map<string, Identity>([...Object.entries(options.tokens ?? {}), [adminToken, admin]]);
  const store = new ObjectStore({ clock, random });
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    store.create('namespaces', {
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      status: { phase: 'Active' },
    });
  const parts: ServerParts = {
    store,
    clock,
    random,
    tokens,
    decide: deciderOf(options, store),
    version: options.version ?? 'v1.34.4',
    faults: new Faults(),
    evidence: new Evidence(),
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    watchList: options.watchList ?? true,
  };
  const listener = new Listener(parts);
  await listener.open(options.port ?? 0);
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    url,
    adminToken,
    tokens,
    objects: store,
    faults: parts.faults,
    evidence: parts.evidence,
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

function deciderOf(
  { authorize }: SimulatedClusterOptions,
  store: ObjectStore,
): (spec: SubjectAccessReviewSpec) => Decision {
  return authorize ? (spec) => ({ allowed: authorize(spec) }) : (spec) => decide(store, spec);
}

/** The listening socket and its connections. */
class Listener {
  readonly #parts: ServerParts;
  readonly #sockets = new Map<Socket, number>();
  #server: Server | undefined;
  port = 0;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  async open(port: number): Promise<void> {
    // Idle connections stay: a real server keeps them for minutes, and clients pool them.
    const server = createServer({ keepAliveTimeout: 180_000, requestTimeout: 0 }, (message, response) => {
      const connection = this.#sockets.get(message.socket) ?? 0;
      serve(message, response, { connection, parts: this.#parts }).catch((error: unknown) =>
        response.destroy(error as Error),
      );
    });
    server.on('connection', (socket) => this.#accepted(socket));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    this.resetConnections();
    await closed;
  }

  resetConnections(): void {
    for (const socket of this.#sockets.keys()) socket.resetAndDestroy();
  }

  #accepted(socket: Socket): void {
    const { evidence } = this.#parts;
    this.#sockets.set(socket, evidence.connectionOpened());
    socket.on('error', () => {}); // A client that goes away is no news; 'close' follows.
    socket.once('close', () => {
      this.#sockets.delete(socket);
      evidence.connectionClosed();
    });
  }
}
