import { connect, type Socket } from 'node:net';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Direction, Fault } from './fault.ts';
import { Flow } from './flow.ts';

export interface LinkParts {
  readonly clock: Clock;
  readonly port: number;
  passed(direction: Direction, bytes: number): void;
  /** Called when both sides are closed. */
  onClosed(link: Link): void;
}

/** One connection through the proxy: the client's, and ours to the server. */
export class Link {
  readonly #parts: LinkParts;
  readonly #client: Socket;
  readonly #sockets: Socket[];
  readonly #flows: Flow[] = [];
  #fault: Fault;

  constructor(client: Socket, fault: Fault, parts: LinkParts) {
    this.#parts = parts;
    this.#client = client;
    this.#sockets = [client];
    this.#fault = fault;
    this.#follow(client);
    if (fault.accept === 'reset') client.resetAndDestroy();
    else if (fault.accept === 'silence') client.resume();
    else this.#joinServer();
  }

  /** Sets the fault of the connection from now on. Its `accept` part no longer has an effect. */
  set(fault: Fault): void {
    this.#fault = fault;
    for (const flow of this.#flows) flow.wake();
    if (!fault.swallowFin && this.#sockets.some((socket) => socket.destroyed)) this.reset();
  }

  /** RST to both sides. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #joinServer(): void {
    const server = connect({ port: this.#parts.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#sockets.push(server);
    this.#follow(server);
    this.#join('toServer', this.#client, server);
    this.#join('toClient', server, this.#client);
  }

  #join(direction: Direction, source: Socket, sink: Socket): void {
    const { clock, passed } = this.#parts;
    const flow = new Flow({
      direction,
      source,
      sink,
      clock,
      fault: () => this.#fault,
      passed: (bytes) => passed(direction, bytes),
      onCut: (ending) => (ending === 'reset' ? this.reset() : this.#close()),
    });
    this.#flows.push(flow);
    void flow.run();
  }

  /** FIN to the client, as from a server that ends in the middle. The server gets a reset. */
  #close(): void {
    this.#client.end();
    for (const socket of this.#sockets) if (socket !== this.#client) socket.resetAndDestroy();
  }

  #follow(socket: Socket): void {
    socket.on('error', () => {}); // `close` says how it ended
    socket.once('close', (hadError) => {
      const isOver = this.#sockets.every((one) => one.destroyed);
      if (isOver) this.#over();
      else if (hadError && !this.#fault.swallowFin) this.reset();
    });
  }

  #over(): void {
    for (const flow of this.#flows) flow.close();
    this.#parts.onClosed(this);
  }
}
