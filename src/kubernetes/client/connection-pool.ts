import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { TlsMaterial } from '../access/credentials.ts';
import { createTunnelConnector } from './tunnel.ts';

/** Long-lived streams get their own connections, so that they never hold up a request. */
export type Lane = 'requests' | 'watches';

/**
 * When to probe an idle connection: a dead peer is found after 10 s and 9 probes on most systems (C-05: within 45 s).
 */
const KEEP_ALIVE_PROBE_MS = 10_000;
/**
 * The API server closes idle connections after 3 min. We close them earlier, so that we never write into one that it is
 * closing.
 */
const IDLE_CONNECTION_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface PoolParts {
  readonly createAgent: typeof Agent;
  readonly createConnector: typeof buildConnector;
  /** Every connection goes through this proxy. */
  readonly proxy: URL | undefined;
}

/** All connections to the API server: one agent per lane, made anew when the TLS material changes. */
export class ConnectionPool {
  readonly #parts: PoolParts;
  #agents: { readonly tls: TlsMaterial; readonly lanes: Readonly<Record<Lane, Agent>> } | undefined;
  #connections = 0;
  #closed = false;

  private constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  static async load(proxy?: URL): Promise<ConnectionPool> {
    const { default: createAgent } = await import('undici/lib/dispatcher/agent.js');
    const { default: createConnector } = await import('undici/lib/core/connect.js');
    return new ConnectionPool({ createAgent, createConnector, proxy });
  }

  /** Open connections, for `gatehouse_cluster_connections`. */
  get connections(): number {
    return this.#connections;
  }

  dispatcher(lane: Lane, tls: TlsMaterial): Dispatcher {
    if (this.#closed) throw new Error('the connections to the cluster are closed');
    if (this.#agents?.tls !== tls) {
      this.#leave();
      this.#agents = { tls, lanes: { requests: this.#agent(tls), watches: this.#agent(tls) } };
    }
    return this.#agents.lanes[lane];
  }

  /** Ends everything in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    const agents = this.#agents;
    this.#agents = undefined;
    if (agents) await Promise.all([agents.lanes.requests.destroy(), agents.lanes.watches.destroy()]);
  }

  /**
   * Requests finish on the old connections. Watches would stay on them for minutes, so their connections are closed and
   * they connect again (C-31).
   */
  #leave(): void {
    const ignore = (): void => undefined;
    this.#agents?.lanes.requests.close().catch(ignore);
    this.#agents?.lanes.watches.destroy().catch(ignore);
  }

  #agent(tls: TlsMaterial): Agent {
    const agent = new this.#parts.createAgent({
      allowH2: false, // so that a lost packet or a reset hits one watch, not all of them at once
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      connect: this.#connector(tls),
      headersTimeout: 0, // limits of silence use the injected clock
      bodyTimeout: 0,
    });
    agent.on('connect', () => void this.#connections++);
    agent.on('disconnect', () => void this.#connections--);
    return agent;
  }

  #connector(tls: TlsMaterial): buildConnector.connector {
    const { createConnector, proxy } = this.#parts;
    const connect = createConnector({
      ...tls,
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    });
    if (!proxy) return connect;
    const limits = { timeoutMs: CONNECT_TIMEOUT_MS, keepAliveProbeMs: KEEP_ALIVE_PROBE_MS };
    return createTunnelConnector({ proxy, connectTls: connect, ...limits });
  }
}
