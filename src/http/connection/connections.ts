import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { normaliseAddress } from '../../runtime/source-address.ts';
import type { Rejection } from '../metrics.ts';
import { type InFlight, Pipeline, type PipelineBudget } from './pipeline.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

type Handle = (inFlight: InFlight) => void;

interface Connection {
  readonly address: string;
  /** The newest request, until it has been answered. */
  current: InFlight | undefined;
  /** The number of requests that wait or are being answered; 0: the connection is idle. */
  unanswered: number;
  /** The unanswered requests after the first; absent until a client sends a request before the previous one is answered. */
  pipeline: Pipeline | undefined;
  answered: boolean;
  /** Called when the last answer is complete. */
  whenAnswered: (() => void) | undefined;
}

/**
 * The open connections, limited in total and per address (HL-03). Above a limit the oldest idle connection is closed; if all
 * others are busy, the new one is closed.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #refused: (reason: Rejection) => void;
  readonly #open = new Map<Socket, Connection>();
  /**
   * Maps a TLS socket to the TCP socket that was accepted for it: with TLS, requests arrive on the former.
   */
  readonly #secured = new WeakMap<Socket, Socket>();
  readonly #handshaking = new Map<string, Socket>();
  readonly #addresses = new Map<string, Set<Socket>>();
  readonly #pipelineBudget: PipelineBudget = { takenBytes: 0 };
  #draining = false;

  constructor(limits: ConnectionLimits, refused: (reason: Rejection) => void) {
    this.#limits = limits;
    this.#refused = refused;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Adds a new connection. Above a limit it closes an idle connection, or this one. */
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

  /** Adds a new connection that begins with a TLS handshake. It counts at once, because the handshake may never come. */
  openedForTls(socket: Socket): void {
    const peer = peerOf(socket);
    this.#handshaking.set(peer, socket);
    socket.once('close', () => {
      if (this.#handshaking.get(peer) === socket) this.#handshaking.delete(peer);
    });
    this.opened(socket);
  }

  /** Notes that a handshake is complete. Node does not say which TCP socket a TLS socket belongs to, but both have the same peer. */
  secured(tlsSocket: Socket): void {
    const peer = peerOf(tlsSocket);
    const socket = this.#handshaking.get(peer);
    if (!socket) return;
    this.#handshaking.delete(peer);
    this.#secured.set(tlsSocket, socket);
  }

  /**
   * To be called for each request: its connection is busy until the answer is complete. The request is handled when all earlier
   * requests on its connection have been answered. If there is no room for it to wait, it is never handled, and the connection
   * closes after the earlier answers.
   */
  came(inFlight: InFlight, handle: Handle): void {
    const { socket } = inFlight.request;
    if (socket.destroyed) return; // Node still parses the bytes that it had read before
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

  /** Whether this socket is a connection that speaks HTTP; it is not during a TLS handshake. */
  has(socket: Socket): boolean {
    return this.#of(socket) !== undefined;
  }

  /** From now on every answer has `Connection: close`, so that clients connect to another replica. */
  drain(): void {
    this.#draining = true;
    for (const { current } of this.#open.values()) {
      if (current && !current.response.headersSent) current.response.shouldKeepAlive = false;
    }
  }

  /** Closes idle connections that have had an answer; with `fresh`, also those that have not sent a first request. */
  closeIdle(fresh: boolean): void {
    for (const [socket, { unanswered, answered }] of [...this.#open]) {
      if (unanswered === 0 && (fresh || answered)) this.#close(socket);
    }
  }

  /** Closes all connections, except those whose request may go on. */
  closeAll(mayGoOn: (request: IncomingMessage) => boolean = () => false): void {
    for (const [socket, { current }] of [...this.#open]) if (!current || !mayGoOn(current.request)) this.#close(socket);
  }

  /**
   * Resets the connection. After an orderly close (FIN) the client would take what it has for the whole answer. That is so with TLS,
   * too, because many clients do not notice that the `close_notify` alert is missing.
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
      // After an answer that closes the connection, no further request is handled (RFC 9112 9.6).
      if (next?.request.socket.writable) {
        pauseWhile(connection.pipeline?.isLong === true, next.request.socket);
        this.#begin(connection, next, handle);
      } else if (connection.unanswered === 0) connection.whenAnswered?.();
    });
    handle(inFlight);
  }

  /**
   * Whether a pipelined request may wait. After one refusal, all later requests are refused as well, but the metric counts only the first.
   */
  #holds(connection: Connection, inFlight: InFlight): boolean {
    const { socket } = inFlight.request;
    connection.pipeline ??= new Pipeline(this.#pipelineBudget);
    const { pipeline } = connection;
    const wasFull = pipeline.isFull;
    const outcome = pipeline.add(inFlight);
    // Node resumes the socket with each request, so we pause only after it has parsed all that it has read.
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

  /** Closes the oldest idle connection. The new one is idle and the last of `among`, so it is closed only if all others are busy. */
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
