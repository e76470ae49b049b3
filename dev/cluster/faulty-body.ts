import type { ServerResponse } from 'node:http';
import type { Clock } from '../../src/runtime/clock.ts';
import type { StreamFault } from './behaviour.ts';
import { type Body, plainBody } from './body.ts';
import { pacedBody } from './paced-body.ts';

/** Resets a connection after the written bytes have left the process. */
export function resetConnection(response: ServerResponse): void {
  const { socket } = response;
  // One turn later, because the last chunk is sent in the next tick, and an RST would overtake it.
  setImmediate(() => socket?.resetAndDestroy());
}

/** FIN in the middle of a body: the client sees the connection end before the last chunk. */
export function cutConnection(response: ServerResponse): void {
  const { socket } = response;
  setImmediate(() => socket?.destroySoon());
}

/** A body that does what the fault says. The headers must have been written. */
export function faultyBody(response: ServerResponse, fault: StreamFault, clock: Clock): Body {
  const plain = plainBody(response);
  const body = fault.bytesPerSecond ? pacedBody(plain, fault.bytesPerSecond, clock) : plain;
  return new FaultyBody(response, body, fault);
}

class FaultyBody implements Body {
  readonly #response: ServerResponse;
  readonly #body: Body;
  readonly #fault: StreamFault;
  #events = 0;
  #bytes = 0;
  #toDrop: number;
  #struck = false;
  /** Nothing more is written, even if the server goes on writing. */
  #over = false;

  constructor(response: ServerResponse, body: Body, fault: StreamFault) {
    this.#response = response;
    this.#body = body;
    this.#fault = fault;
    this.#toDrop = fault.drop ?? 0;
    if (fault.afterBytes === undefined && (fault.afterEvents ?? 0) === 0) this.#strike();
  }

  write(text: string | Buffer): boolean {
    if (this.#over) return true;
    if (this.#struck && this.#toDrop > 0) {
      this.#toDrop--;
      return true;
    }
    return this.#struck ? this.#body.write(text) : this.#writeTowardsFault(Buffer.from(text as string));
  }

  drained = (): Promise<void> => this.#body.drained();

  end(): void {
    if (!this.#over) this.#body.end();
  }

  #writeTowardsFault(bytes: Buffer): boolean {
    const { afterBytes = Number.POSITIVE_INFINITY, afterEvents = Number.POSITIVE_INFINITY } = this.#fault;
    const room = afterBytes - this.#bytes;
    const first = bytes.subarray(0, room);
    this.#bytes += first.length;
    this.#events++;
    const more = this.#body.write(first);
    if (this.#bytes < afterBytes && this.#events < afterEvents) return more;
    this.#strike();
    const rest = bytes.subarray(first.length);
    return this.#over || rest.length === 0 ? more : this.#body.write(rest);
  }

  #strike(): void {
    this.#struck = true;
    for (const text of this.#fault.inject ?? []) this.#body.write(text);
    const { ending } = this.#fault;
    this.#over = ending !== undefined;
    if (ending === 'close') this.#body.end();
    if (ending === 'cut') cutConnection(this.#response);
    if (ending === 'reset') resetConnection(this.#response);
  }
}
