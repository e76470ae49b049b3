import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { normaliseAddress } from '../../runtime/source-address.ts';
import type { Rejection } from '../metrics.ts';
import { type InFlight, Pipeline, type PipelineRoom } from './pipeline.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

type Handle = (inFlight: InFlight) => void;

interface Connection {
  readonly address: string;
  /** The newest request, while it waits or is being answered. */
  current: InFlight | undefined;
  /** Requests that wait or are being answered. None: the connection is idle. */
  unanswered: number;
  /** Holds all of them but the first; absent until a request comes before the one before it was answered. */
  pipeline: Pipeline | undefined;
  answered: boolean;
  /** Called when the last answer is complete. */
  whenAnswered: (() => void) | undefined;
}

/**
 * The open connections, capped in total and per address (HL-03). Beyond a cap the oldest idle one is closed; when all
 * others are busy, the new one is.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #refused: (reason: Rejection) => void;
  readonly #open = new Map<Socket, Connection>();
  /**
   * Under TLS, requests come over a different socket than the one that was opened. Maps the TLS socket to the opened
   * one.
   */
  readonly #secured = new WeakMap<Socket, Socket>();
  readonly #handshaking = new Map<string, Socket>();
  readonly #addresses = new Map<string, Set<Socket>>();
  readonly #pipelineRoom: PipelineRoom = { takenBytes: 0 };
  #draining = false;

  constructor(limits: ConnectionLimits, refused: (reason: Rejection) => void) {
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
    this.#open.set(socket, {
      address,
      current: undefined,
      unanswered: 0,
      pipeline: undefined,
      answered: false,
      whenAnswered: undefined,
    });
    siblings.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (siblings.size > this.#limits.maxConnectionsPerAddress) this.#closeOne(siblings, 'connections_per_address');
    if (this.#open.size > this.#limits.maxConnections) this.#closeOne(this.#open.keys(), 'connections');
  }

  /** A new connection that begins with a TLS handshake. It counts at once, since the handshake may never come. */
  openedForTls(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshaking.set(peer, socket);
    socket.once('close', () => {
      if (this.#handshaking.get(peer) === socket) this.#handshaking.delete(peer);
    });
    this.opened(socket);
  }

  /** The handshake is done. Node does not say which connection a TLS socket belongs to, but both have the same peer. */
  secured(tlsSocket: Socket): void {
    const peer = peerOf(tlsSocket);
    const socket = this.#handshaking.get(peer);
    if (!socket) return;
    this.#handshaking.delete(peer);
    this.#secured.set(tlsSocket, socket);
  }

  /**
   * A request came in: its connection is busy until the answer is complete. The request is handled at once, or after
   * those before it on its connection have been answered. A request for which there is no room is never handled: the
   * connection closes after the answers before it.
   */
  came(inFlight: InFlight, handle: Handle): void {
    const { socket } = inFlight.request;
    if (socket.destroyed) return; // Node goes on parsing what it has read
    const connection = this.#of(socket);
    if (!connection) return void handle(inFlight);
    const waits = connection.unanswered > 0 || connection.pipeline?.isFull === true;
    if (waits && !this.#holds(connection, inFlight)) return;
    if (this.#draining) inFlight.response.shouldKeepAlive = false;
    connection.current = inFlight;
    connection.unanswered++;
    if (!waits) this.#begin(connection, inFlight, handle);
  }

  currentOf(socket: Socket): InFlight | undefined {
    return this.#of(socket)?.current;
  }

  /** Whether exactly one request is being answered here, its body is not complete, and its answer has not begun. */
  awaitsBodyAlone(socket: Socket): boolean {
    const { current, unanswered } = this.#of(socket) ?? {};
    return unanswered === 1 && current !== undefined && !current.request.complete && !current.response.headersSent;
  }

  /**
   * Runs `then` once, when every request on this connection has been answered, which may be now. Only the first `then`
   * that is given counts.
   */
  afterAnswers(socket: Socket, then: () => void): void {
    const connection = this.#of(socket);
    if (!connection || connection.whenAnswered) return;
    connection.whenAnswered = then;
    if (connection.pipeline?.dropIncomplete()) {
      connection.current = undefined;
      connection.unanswered--;
    }
    if (connection.unanswered === 0) then();
  }

  /** Whether HTTP is spoken on this socket: not during a TLS handshake. */
  has(socket: Socket): boolean {
    return this.#of(socket) !== undefined;
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
    for (const [socket, { unanswered, answered }] of [...this.#open]) {
      if (unanswered === 0 && (fresh || answered)) this.#close(socket);
    }
  }

  /** Closes all connections, but for those whose request may go on. */
  closeAll(mayGoOn: (request: IncomingMessage) => boolean = () => false): void {
    for (const [socket, { current }] of [...this.#open]) if (!current || !mayGoOn(current.request)) this.#close(socket);
  }

  /**
   * Ends a connection with a reset. An orderly end would look like that of the conversation: also under TLS, where many
   * clients do not miss the alert that comes before it.
   */
  reset(socket: Socket): void {
    const opened = this.#secured.get(socket) ?? socket;
    if ('encrypted' in opened) opened.destroy();
    else opened.resetAndDestroy();
  }

  #begin(connection: Connection, inFlight: InFlight, handle: Handle): void {
    inFlight.response.on('close', () => {
      connection.unanswered--;
      connection.answered = true;
      if (connection.unanswered === 0) connection.current = undefined;
      const next = connection.pipeline?.next();
      // Nothing is handled after an answer that closes the connection (RFC 9112 9.6).
      if (next?.request.socket.writable) {
        pauseWhile(connection.pipeline?.isLong === true, next.request.socket);
        this.#begin(connection, next, handle);
      } else if (connection.unanswered === 0) connection.whenAnswered?.();
    });
    handle(inFlight);
  }

  /**
   * Whether a request that is not the first may wait. The first one refused is counted, and all later ones are refused
   * as well.
   */
  #holds(connection: Connection, inFlight: InFlight): boolean {
    const { socket } = inFlight.request;
    connection.pipeline ??= new Pipeline(this.#pipelineRoom);
    const { pipeline } = connection;
    const wasFull = pipeline.isFull;
    const outcome = pipeline.add(inFlight);
    // Node resumes the socket with each request, so the pause waits until Node has parsed all that it has read.
    if (pipeline.isLong) process.nextTick(() => pauseWhile(pipeline.isLong, socket));
    if (outcome === 'held') return true;
    if (!wasFull) {
      this.#refused('pipelined');
      socket.resume();
      const last = connection.current?.response;
      if (last && !last.headersSent) last.shouldKeepAlive = false;
      connection.whenAnswered = () => socket.destroySoon();
    }
    if (outcome === 'cut') socket.destroy();
    return false;
  }

  #of(socket: Socket): Connection | undefined {
    return this.#open.get(this.#secured.get(socket) ?? socket);
  }

  /** The new connection is the last of `among`, and idle: so it is closed only when no other can be. */
  #closeOne(among: Iterable<Socket>, reason: Rejection): void {
    this.#refused(reason);
    for (const socket of among) {
      if (this.#open.get(socket)?.unanswered !== 0) continue;
      this.#close(socket);
      break;
    }
  }

  #close(socket: Socket): void {
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    this.#open.delete(socket);
    connection.pipeline?.clear();
    const siblings = this.#addresses.get(connection.address);
    siblings?.delete(socket);
    if (siblings?.size === 0) this.#addresses.delete(connection.address);
  }
}

function pauseWhile(isLong: boolean, socket: Socket): void {
  if (isLong) socket.pause();
  else socket.resume();
}

const peerOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
