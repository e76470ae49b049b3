import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { normaliseAddress } from './source-address.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** What is being answered on a connection. */
export interface InFlight {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  readonly address: string;
  /** The newest request, while it is being answered. */
  current: InFlight | undefined;
  unanswered: number;
  answered: boolean;
}

/**
 * The open connections, capped in total and per address (HL-03). Beyond a cap an idle one goes first, the longest idle;
 * when all are busy the new one is refused.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #refused: (reason: string) => void;
  readonly #open = new Map<Socket, Connection>();
  readonly #addresses = new Map<string, Set<Socket>>();
  /** In order of becoming idle. */
  readonly #idle = new Set<Socket>();
  #draining = false;

  constructor(limits: ConnectionLimits, refused: (reason: string) => void) {
    this.#limits = limits;
    this.#refused = refused;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A new connection: kept, or closed at once. */
  opened(socket: Socket): void {
    const address = normaliseAddress(socket.remoteAddress ?? '');
    const siblings = this.#addresses.get(address) ?? new Set();
    this.#addresses.set(address, siblings);
    this.#open.set(socket, { address, current: undefined, unanswered: 0, answered: false });
    siblings.add(socket);
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (siblings.size > this.#limits.maxConnectionsPerAddress) this.#closeOne(siblings, 'connections_per_address');
    if (this.#open.size > this.#limits.maxConnections) this.#closeOne(this.#idle, 'connections');
  }

  /** A request came in: its connection is busy until the answer is complete. */
  began(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(request.socket);
    if (!connection) return;
    if (this.#draining) response.shouldKeepAlive = false;
    const current = { request, response };
    connection.current = current;
    connection.unanswered++;
    this.#idle.delete(request.socket);
    response.once('close', () => {
      connection.unanswered--;
      connection.answered = true;
      if (connection.current === current) connection.current = undefined;
      if (connection.unanswered === 0 && this.#open.has(request.socket)) this.#idle.add(request.socket);
    });
  }

  currentOf(socket: Socket): InFlight | undefined {
    return this.#open.get(socket)?.current;
  }

  /** From now on every answer says `Connection: close`, so that clients turn to another replica. */
  drain(): void {
    this.#draining = true;
    for (const { current } of this.#open.values()) {
      if (current && !current.response.headersSent) current.response.shouldKeepAlive = false;
    }
  }

  /** Closes connections that wait for a further request; with `fresh`, also those that have not sent a first one. */
  closeIdle(fresh: boolean): void {
    for (const socket of [...this.#idle]) {
      if (fresh || this.#open.get(socket)?.answered) this.#close(socket);
    }
  }

  closeAll(): void {
    for (const socket of [...this.#open.keys()]) this.#close(socket);
  }

  #closeOne(among: ReadonlySet<Socket>, reason: string): void {
    this.#refused(reason);
    let last: Socket | undefined;
    for (const socket of among) {
      last = socket;
      if (this.#idle.has(socket)) break;
    }
    if (last) this.#close(last);
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    this.#open.delete(socket);
    this.#idle.delete(socket);
    const siblings = this.#addresses.get(connection.address);
    siblings?.delete(socket);
    if (siblings?.size === 0) this.#addresses.delete(connection.address);
  }
}
