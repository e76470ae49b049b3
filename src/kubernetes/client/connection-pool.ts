import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { TlsMaterial } from '../access/credentials.ts';
import { createTunnelConnector } from './tunnel.ts';

/** Long-lived streams get their own connections, so that they never hold up a request. */
export type Lane = 'requests' | 'watches';

/** Before Kubernetes' own first answer to a dead peer: found after 10 s + 9 probes on most systems (C-05: within 45 s). */
const KEEP_ALIVE_PROBE_MS = 10_000;
/** The API server closes idle connections after 3 min; being first avoids writing into a closing one. */
const IDLE_CONNECTION_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface PoolParts {
  readonly createAgent: typeof Agent;
  readonly createConnector: typeof buildConnector;
  /** Every connection goes by way of it. */
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

  /** Requests finish on the old connections; watches would stay on them for minutes and are dialled again (C-31). */
  #leave(): void {
    const ignore = (): void => undefined;
    this.#agents?.lanes.requests.close().catch(ignore);
    this.#agents?.lanes.watches.destroy().catch(ignore);
  }

  #agent(tls: TlsMaterial): Agent {
    const agent = new this.#parts.createAgent({
      allowH2: false, // a lost packet or a reset then hits one watch, not all of them at once
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      connect: this.#connector(tls),
      headersTimeout: 0, // limits of silence run on the injected clock
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
