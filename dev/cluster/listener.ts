import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ServerParts, serve } from './server.ts';
import { isWebsocketWatch } from './websocket.ts';

/** The listening socket and its connections. */
export class Listener {
  readonly #parts: ServerParts;
  /** The open sockets, each with its number, counted from 1. */
  readonly #sockets = new Map<Socket, number>();
  #server: Server | undefined;
  #port = 0;
  /** Bytes sent over connections that are closed. */
  #sentBefore = 0;

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  get port(): number {
    return this.#port;
  }

  /** Bytes sent over all connections since the start, headers included. */
  get bytesSent(): number {
    return [...this.#sockets.keys()].reduce((sum, { bytesWritten }) => sum + bytesWritten, this.#sentBefore);
  }

  async open(port: number): Promise<void> {
    // Idle connections stay: a real server keeps them for minutes, and clients pool them.
    const server = createServer(
      { keepAliveTimeout: 180_000, requestTimeout: 0, shouldUpgradeCallback: isWebsocketWatch },
      (message, response) => this.#serve(message, response),
    );
    // If the upgrade is refused, the refusal is the last answer on its connection.
    server.on('upgrade', (message, socket) => {
      const response = new ServerResponse(message);
      response.shouldKeepAlive = false;
      response.assignSocket(socket as Socket);
      response.on('finish', () => socket.end());
      this.#serve(message, response, socket);
    });
    server.on('connection', (socket) => this.#accepted(socket));
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  #serve(message: IncomingMessage, response: ServerResponse, socket?: Duplex): void {
    const connection = this.#sockets.get(message.socket) ?? 0;
    serve(message, response, { connection, parts: this.#parts, socket }).catch((error: Error) =>
      response.destroy(error),
    );
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
    socket.on('error', () => {}); // A client that goes away needs no report; 'close' follows.
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#sentBefore += socket.bytesWritten;
      evidence.connectionClosed();
    });
  }
}
