import type { Socket } from 'node:net';
import type { Clock } from '../../runtime/clock.ts';
import { bytesTaken, StallDetector } from '../answer/stall-detector.ts';
import type { Frames } from './frames.ts';
import { failureFrame, spdyFrames } from './spdy-frames.ts';
import { closeFrame, websocketFrames } from './websocket-frames.ts';

/** Why we end a stream of our own accord. */
export type StreamEnd = 'revoked' | 'forbidden' | 'closing';

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const CLOSES: Readonly<Record<StreamEnd, readonly [code: number, reason: string]>> = {
  revoked: [1008, 'the session has ended'],
  forbidden: [1008, 'the right to this has ended'],
  closing: [1001, 'the server is stopping'],
};

/** How long a connection that we end may take to finish its frame before it is cut. */
const GOODBYE_MS = 2_000;

/**
 * How long a client may leave its connection open when the cluster has finished and all has gone to the kernel. The kernel holds
 * some megabytes for a client that pauses, and drops them when the client says a word after we have closed.
 */
const CLOSE_MS = 60_000;

/** A peer that is gone without a word is found by the kernel's probes. Who is only silent is kept. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/** What is spoken on a connection: what we can say there when we end it. */
export type Speech =
  /** A close frame. */
  | 'websocket'
  /** A Status on the stream of errors. */
  | 'spdy-command'
  /** Nothing that a client would take for anything but the end. */
  | 'other';

export interface TunnelParts {
  readonly client: Socket;
  /** Ends the client's connection so that the client notices, with any protocol. */
  reset(): void;
  readonly upstream: Socket;
  /** What the client has already sent behind its request. */
  readonly head: Buffer;
  readonly speech: Speech;
  onBytes(direction: 'sent' | 'received', bytes: number): void;
  readonly clock: Clock;
  /** When the cluster has finished, a client that takes nothing of what still waits for it for this long is cut off. */
  readonly sendTimeoutMs: number;
}

/**
 * Passes bytes both ways between two connections, each at the pace of the other. The headers of the cluster's frames are read
 * where we have a word to say when we end it. How long a frame is does not matter: none is held in memory.
 */
export class Tunnel {
  readonly #parts: TunnelParts;
  readonly #received: Frames | undefined;
  readonly #closed = Promise.withResolvers<StreamEnd | undefined>();
  readonly #stall: StallDetector;
  #ending: StreamEnd | undefined;
  /** The cluster has said all that it will. */
  #isFinished = false;
  #cancel = (): void => undefined;

  constructor(parts: TunnelParts) {
    this.#parts = parts;
    const { client, upstream, head, speech } = parts;
    this.#stall = new StallDetector(parts.sendTimeoutMs);
    if (speech !== 'other') this.#received = speech === 'websocket' ? websocketFrames() : spdyFrames();
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

  /** Resolves when the client's connection is closed, and the other with it; with our reason if it was our doing. */
  get closed(): Promise<StreamEnd | undefined> {
    return this.#closed.promise;
  }

  /**
   * Ends both connections: with the reason, between two frames of the cluster's, where there is a word for it; any other with a
   * reset, because its client would take an orderly end for that of the command.
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
    const { speech } = this.#parts;
    this.#later(GOODBYE_MS, () => (speech === 'websocket' ? this.#cut() : this.#reset()));
    if (this.#received.isBetween) this.#sayGoodbye();
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
    this.#sayGoodbye();
  }

  #sayGoodbye(): void {
    const { client, upstream, speech } = this.#parts;
    upstream.destroy();
    if (!this.#ending) return;
    const [code, reason] = CLOSES[this.#ending];
    client.end(speech === 'websocket' ? closeFrame(code, reason) : failureFrame(reason));
  }

  /** The cluster has finished: so does the client's connection, when all has been written. */
  #finish(): void {
    const { client, clock } = this.#parts;
    // An end of ours has its own last frame, and its own way to cut.
    if (client.destroyed || this.#ending || this.#isFinished) return;
    this.#isFinished = true;
    client.once('finish', () => this.#later(CLOSE_MS, () => this.#cut()));
    if (!client.writableEnded) client.end();
    if (client.writableFinished) return;
    this.#stall.block(bytesTaken(client), clock.monotonic());
    this.#lookLater();
  }

  /** There is no room for a last word behind what the client has still to read: its connection is reset, so that it notices. */
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

  /** What the cluster broke off has not come to its end. A word of the client's after the end changes nothing of it. */
  #brokeOff(): void {
    if (this.#isFinished) return;
    if (this.#parts.speech === 'websocket') this.#cut();
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
