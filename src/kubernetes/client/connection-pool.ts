import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { TlsMaterial } from '../access/credentials.ts';

/** Watches have their own connections, so that they never delay a request. */
export type Lane = 'requests' | 'watches';

/**
 * The time after which the kernel probes an idle connection. On most systems a dead peer is found after 10 s and 9 probes (C-05:
 * within 45 s).
 */
const KEEP_ALIVE_PROBE_MS = 10_000;
/**
 * The API server closes idle connections after 3 min. We close them earlier, so that no request goes to a connection that the
 * server is just closing.
 */
const IDLE_CONNECTION_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface PoolParts {
  readonly createAgent: typeof Agent;
  readonly createConnector: typeof buildConnector;
  /** If set, every connection goes through this proxy. */
  readonly proxy: URL | undefined;
  readonly limits: PoolLimits;
}

interface PoolLimits {
  readonly connectMs: number;
  /** What happens to watches when the TLS material changes: `end` them, so that they connect again, or `keep` them. */
  readonly oldWatches: 'end' | 'keep';
}

const OWN_LIMITS: PoolLimits = { connectMs: CONNECT_TIMEOUT_MS, oldWatches: 'end' };

/** All connections to the API server: one agent for each lane, replaced when the TLS material changes. */
export class ConnectionPool {
  readonly #parts: PoolParts;
  #agents: { readonly tls: TlsMaterial; readonly lanes: Readonly<Record<Lane, Agent>> } | undefined;
  #connections = 0;
  #closed = false;

  private constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  static async load(proxy?: URL, limits = OWN_LIMITS): Promise<ConnectionPool> {
    const { default: createAgent } = await import('undici/lib/dispatcher/agent.js');
    const { default: createConnector } = await import('undici/lib/core/connect.js');
    return new ConnectionPool({ createAgent, createConnector, proxy, limits });
  }

  /** The number of open connections, for `gatehouse_cluster_connections`. */
  get connections(): number {
    return this.#connections;
  }

  dispatcher(lane: Lane, tls: TlsMaterial): Dispatcher {
    if (this.#closed) throw new Error('the connections to the cluster are closed');
    if (this.#agents?.tls !== tls) {
      this.#retire();
      this.#agents = { tls, lanes: { requests: this.#agent(tls), watches: this.#agent(tls) } };
    }
    return this.#agents.lanes[lane];
  }

  /**
   * Opens a separate connection, for a protocol that replaces HTTP after an upgrade. It may be half-open: either end may still send
   * after the other has finished.
   */
  connect(server: URL, tls: TlsMaterial): Promise<Socket> {
    const connect = this.#connector(tls, { allowHalfOpen: true });
    const { hostname, host, protocol, port } = server;
    const name = hostname.replace(/^\[(.*)\]$/, '$1');
    return new Promise((resolve, reject) => {
      connect({ hostname: name, host, protocol, port }, (error, socket) => (error ? reject(error) : resolve(socket)));
    });
  }

  /** Closes all connections, and so ends all requests in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    const agents = this.#agents;
    this.#agents = undefined;
    if (agents) await Promise.all([agents.lanes.requests.destroy(), agents.lanes.watches.destroy()]);
  }

  /**
   * Retires the old connections. Requests finish on them. Our own watches would stay on them for minutes, so these connections are
   * closed, and the watches connect again (C-31).
   */
  #retire(): void {
    const ignore = (): void => undefined;
    this.#agents?.lanes.requests.close().catch(ignore);
    const watches = this.#agents?.lanes.watches;
    if (this.#parts.limits.oldWatches === 'end') watches?.destroy().catch(ignore);
    else watches?.close().catch(ignore);
  }

  #agent(tls: TlsMaterial): Agent {
    const agent = new this.#parts.createAgent({
      allowH2: false, // so that a lost packet or a reset affects one watch and not all of them
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      connect: this.#connector(tls),
      headersTimeout: 0, // our own time limits use the injected clock
      bodyTimeout: 0,
    });
    agent.on('connect', () => void this.#connections++);
    agent.on('disconnect', () => void this.#connections--);
    return agent;
  }

  #connector(tls: TlsMaterial, more: { readonly allowHalfOpen?: true } = {}): buildConnector.connector {
    const { createConnector, proxy, limits } = this.#parts;
    const connect = createConnector({
      ...tls,
      ...more,
      allowH2: false,
      timeout: limits.connectMs,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    });
    if (!proxy) return connect;
    const tunnel = { timeoutMs: limits.connectMs, keepAliveProbeMs: KEEP_ALIVE_PROBE_MS };
    return createTunnelConnector({ proxy, connectTls: connect, ...tunnel });
  }
}

export interface TunnelOptions {
  /** `http://[user:password@]host[:port]` */
  readonly proxy: URL;
  readonly timeoutMs: number;
  readonly keepAliveProbeMs: number;
  /** Opens the TLS connection inside the tunnel. */
  readonly connectTls: buildConnector.connector;
}

/**
 * Connects undici through a proxy by `CONNECT` (RFC 9110 9.3.6), even if the server has no TLS. TLS is with the server itself,
 * so the proxy sees only the server's name and port.
 */
export function createTunnelConnector(options: TunnelOptions): buildConnector.connector {
  return (asked, callback) => {
    const connect = openTunnel(options, authority(asked));
    let settled = false;
    const fail = (error: Error): void => {
      if (!settled) callback(error, null);
      settled = true;
    };
    connect.once('error', (cause) =>
      fail(new Error(`the proxy ${options.proxy.host} gives no tunnel: ${cause.message}`, { cause })),
    );
    connect.once('timeout', () => connect.destroy(new Error('it does not answer')));
    connect.once('connect', ({ statusCode = 0 }: IncomingMessage, socket: Socket, early: Buffer) => {
      settled = true;
      socket.setTimeout(0);
      socket.setKeepAlive(true, options.keepAliveProbeMs);
      if (statusCode >= 200 && statusCode <= 299) {
        // No server of our protocols sends first, so no bytes should have come yet. If some did, TLS would fail without them.
        if (early.length > 0) socket.unshift(early);
        if (asked.protocol === 'https:') options.connectTls({ ...asked, httpSocket: socket }, callback);
        else callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new Error(`the proxy ${options.proxy.host} gives no tunnel: it answers ${statusCode}`), null);
    });
    connect.end();
  };
}

/** Host and port for `CONNECT`. undici gives an IPv6 address without its brackets. */
function authority({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function openTunnel({ proxy, timeoutMs }: TunnelOptions, path: string): ClientRequest {
  const { hostname, port, username, password } = proxy;
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const credential =
    username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(secret).toString('base64')}` };
  return request({
    method: 'CONNECT',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port || 80,
    path,
    headers: { host: path, ...credential },
    agent: false,
    timeout: timeoutMs,
  });
}
