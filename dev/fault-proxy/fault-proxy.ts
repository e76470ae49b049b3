import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { Direction, Fault } from './fault.ts';
import { Link } from './link.ts';

/** A TCP proxy on loopback whose connections can fail in all the ways of a real network. */
export interface FaultProxy {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The port on 127.0.0.1 to which new connections go. */
  target: number;
  /** The number of connections so far, without refused ones. */
  readonly accepted: number;
  /** The open connections, the oldest first. */
  readonly links: readonly Link[];
  /** Bytes passed on so far. */
  readonly bytes: Readonly<Record<Direction, number>>;
  /** Sets the fault of all connections, open and future ones. */
  set(fault: Fault): void;
  /** Sets the fault of the next `count` connections, which keep it. A further call is about the connections after them. */
  next(fault: Fault, count?: number): void;
  /** RST on every open connection. */
  reset(): void;
  /** New connections are refused by the kernel until `accept`. Open ones stay. */
  refuse(): void;
  accept(): Promise<void>;
  stop(): Promise<void>;
}

/** A proxy in front of this port on 127.0.0.1. It has no fault until one is set. Waits run on `clock`. */
export async function startFaultProxy(target: number, clock: Clock = systemClock): Promise<FaultProxy> {
  const proxy = new LoopbackProxy(target, clock);
  await proxy.accept();
  return proxy;
}

class LoopbackProxy implements FaultProxy {
  target: number;
  accepted = 0;
  port = 0;
  readonly bytes = { toServer: 0, toClient: 0 };
  readonly #clock: Clock;
  readonly #links = new Set<Link>();
  readonly #next: Fault[] = [];
  #fault: Fault = {};
  #server: Server | undefined;

  constructor(target: number, clock: Clock) {
    this.target = target;
    this.#clock = clock;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get links(): readonly Link[] {
    return [...this.#links];
  }

  set(fault: Fault): void {
    this.#fault = fault;
    this.#next.length = 0;
    for (const link of this.#links) link.set(fault);
  }

  next(fault: Fault, count = 1): void {
    for (let left = count; left > 0; left--) this.#next.push(fault);
  }

  reset(): void {
    for (const link of this.#links) link.reset();
  }

  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  async accept(): Promise<void> {
    if (this.#server) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#linked(socket));
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(this.port, '127.0.0.1', () => resolve()),
    );
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && new Promise((resolve) => server.close(resolve));
    this.reset();
    await closed;
  }

  #linked(client: Socket): void {
    this.accepted++;
    const link = new Link(client, this.#next.shift() ?? this.#fault, {
      clock: this.#clock,
      port: this.target,
      passed: (direction, bytes) => {
        this.bytes[direction] += bytes;
      },
      onClosed: (closed) => this.#links.delete(closed),
    });
    this.#links.add(link);
  }
}
