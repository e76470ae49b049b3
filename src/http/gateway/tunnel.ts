import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { bytesTaken, StallDetector } from '../answer/stall-detector.ts';
import { GOODBYE_MS } from '../limits/http-limits.ts';
import type { Frames } from './frames.ts';
import { failureFrame, spdyFrames } from './spdy-frames.ts';
import { closeFrame, websocketFrames } from './websocket-frames.ts';

/** Why we end a stream. */
export type StreamEnd = 'revoked' | 'forbidden' | 'closing';

/** The close codes of https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
export const CLOSES: Readonly<Record<StreamEnd, readonly [code: number, reason: string]>> = {
  revoked: [1008, 'the session has ended'],
  forbidden: [1008, 'the right to this has ended'],
  closing: [1001, 'the server is stopping'],
};

/**
 * How long a client may keep its connection open after the cluster has finished and the kernel has all bytes. The kernel holds some
 * megabytes for a client that pauses; if we closed the connection earlier, it would drop them as soon as the client sends anything.
 */
const CLOSE_MS = 60_000;

/** The interval of the kernel's keep-alive probes, which find a peer that is gone. A peer that is only silent stays connected. */
export const KEEP_ALIVE_PROBE_MS = 30_000;

/** How we can report to the client that we end a connection. */
export type EndSignal =
  /** A close frame. */
  | 'websocket'
  /** A Status on the error stream. */
  | 'spdy-command'
  /** Only a reset: the client would take anything else for the normal end. */
  | 'other';

export interface TunnelParts {
  readonly client: Socket;
  /** Resets the client's connection, so that a client of any protocol sees that it did not end normally. */
  reset(): void;
  readonly upstream: Socket;
  /** The bytes that the client has already sent after its request. */
  readonly head: Buffer;
  readonly endSignal: EndSignal;
  onBytes(direction: 'sent' | 'received', bytes: number): void;
  readonly clock: Clock;
  /** After the cluster has finished, a client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
}

/**
 * Passes bytes both ways between two connections, each as fast as the other one reads. An end signal must be sent between two frames
 * of the cluster, so the tunnel reads the headers of these frames. It holds no frame in memory, so their length does not matter.
 */
export class Tunnel {
  readonly #parts: TunnelParts;
  readonly #received: Frames | undefined;
  readonly #closed = Promise.withResolvers<StreamEnd | undefined>();
  readonly #stall: StallDetector;
  #ending: StreamEnd | undefined;
  /** Whether the cluster has sent all that it will. */
  #isFinished = false;
  #cancel = (): void => undefined;

  constructor(parts: TunnelParts) {
    this.#parts = parts;
    const { client, upstream, head, endSignal } = parts;
    this.#stall = new StallDetector(parts.sendTimeoutMs);
    if (endSignal !== 'other') this.#received = endSignal === 'websocket' ? websocketFrames() : spdyFrames();
    for (const socket of [client, upstream]) {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    }
    client.on('error', () => this.#cut());
    upstream.on('error', () => this.#brokeOff());
    client.on('data', (piece: Buffer) => this.#fromClient(piece));
    upstream.on('data', (piece: Buffer) => this.#fromUpstream(piece));
    client.once('end', () => upstream.end());
    upstream.once('end', () => this.#finish()).once('close', () => this.#finish());
    client.once('close', () => {
      this.#cancel();
      upstream.destroy();
      this.#closed.resolve(this.#ending);
    });
    if (head.length > 0) this.#fromClient(head);
    client.resume();
    upstream.resume();
  }

  /** Resolves when the client's connection is closed, and with it the cluster's; to our reason if we have ended it. */
  get closed(): Promise<StreamEnd | undefined> {
    return this.#closed.promise;
  }

  /**
   * Ends both connections. An end signal with the reason is sent between two frames of the cluster, if the protocol has one. Otherwise
   * the client's connection is reset, because the client would take an orderly close for the end of the command.
   */
  end(why: StreamEnd): void {
    if (this.#ending) return;
    this.#ending = why;
    if (this.#isFinished) {
      this.#endFinished(why);
      return;
    }
    if (!this.#received) {
      this.#reset();
      return;
    }
    const { endSignal } = this.#parts;
    this.#later(GOODBYE_MS, () => (endSignal === 'websocket' ? this.#cut() : this.#reset()));
    if (this.#received.isBetween) this.#sendEndSignal();
  }

  #fromClient(piece: Buffer): void {
    if (this.#ending) return;
    const { client, upstream, onBytes } = this.#parts;
    onBytes('sent', piece.length);
    pass(piece, client, upstream);
  }

  #fromUpstream(piece: Buffer): void {
    const { client, upstream, onBytes } = this.#parts;
    if (client.destroyed || client.writableEnded) return;
    const wasBetween = this.#received?.isBetween;
    const firstEnd = this.#received?.take(piece);
    if (!this.#ending) {
      onBytes('received', piece.length);
      pass(piece, upstream, client);
      return;
    }
    if (wasBetween || firstEnd === undefined) {
      pass(piece, upstream, client);
      return;
    }
    client.write(piece.subarray(0, firstEnd));
    this.#sendEndSignal();
  }

  #sendEndSignal(): void {
    const { client, upstream, endSignal } = this.#parts;
    upstream.destroy();
    if (!this.#ending) return;
    const [code, reason] = CLOSES[this.#ending];
    client.end(endSignal === 'websocket' ? closeFrame(code, reason) : failureFrame(reason));
  }

  /** Ends the client's connection after all has been written, because the cluster has finished. */
  #finish(): void {
    const { client, clock } = this.#parts;
    // If we have ended the connection, `end` has already planned its last frame and its cut.
    if (client.destroyed || this.#ending || this.#isFinished) return;
    this.#isFinished = true;
    client.once('finish', () => this.#later(CLOSE_MS, () => this.#cut()));
    if (!client.writableEnded) client.end();
    if (client.writableFinished) return;
    this.#stall.block(bytesTaken(client), clock.monotonic());
    this.#lookLater();
  }

  /**
   * Resets the client's connection: an end signal cannot be sent after the cluster has finished. At a shutdown the client has 2 s
   * to read.
   */
  #endFinished(why: StreamEnd): void {
    if (why === 'closing') this.#later(GOODBYE_MS, () => this.#reset());
    else this.#reset();
  }

  #lookLater(): void {
    const { client, clock } = this.#parts;
    this.#later(this.#stall.dueIn(clock.monotonic()) ?? 0, () => {
      if (this.#stall.isStalled(bytesTaken(client), clock.monotonic())) this.#cut();
      else this.#lookLater();
    });
  }

  /** Ends the client's connection after an error on the cluster's. If the cluster had already finished, the error does not matter. */
  #brokeOff(): void {
    if (this.#isFinished) return;
    if (this.#parts.endSignal === 'websocket') this.#cut();
    else this.#reset();
  }

  #later(ms: number, run: () => void): void {
    this.#cancel();
    this.#cancel = this.#parts.clock.after(ms, run);
  }

  #reset(): void {
    this.#parts.reset();
    this.#parts.upstream.destroy();
  }

  #cut(): void {
    this.#parts.client.destroy();
    this.#parts.upstream.destroy();
  }
}

function pass(piece: Buffer, from: Socket, to: Socket): void {
  if (to.destroyed || to.writableEnded || to.write(piece)) return;
  from.pause();
  to.once('drain', () => from.resume());
}
