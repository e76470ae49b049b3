import type { Socket } from 'node:net';
import type { Frames } from './frames.ts';
import { failureFrame, spdyFrames } from './spdy-frames.ts';
import { closeFrame, websocketFrames } from './websocket-frames.ts';

/** Why we end a stream of our own accord. */
export type StreamEnd = 'revoked' | 'forbidden' | 'closing' | 'frame_too_large';

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const CLOSES: Readonly<Record<StreamEnd, readonly [code: number, reason: string]>> = {
  revoked: [1008, 'the session has ended'],
  forbidden: [1008, 'the right to this has ended'],
  closing: [1001, 'the server is stopping'],
  frame_too_large: [1009, 'the frame is larger than 512 KiB'],
};

/** What a client may send in one frame: kubectl sends 32 KiB at most, the API server itself takes no more than 1 MiB. */
const LONGEST_FRAME = 512 * 1024;

/** How long an end may take to finish its frame, or to close when the other has: then the connection is cut. */
const FINISH_MS = 2_000;

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
  /** Ends the client's connection so that it notices, whatever is spoken there. */
  reset(): void;
  readonly upstream: Socket;
  /** What the client has already sent behind its request. */
  readonly head: Buffer;
  readonly speech: Speech;
  onBytes(direction: 'sent' | 'received', bytes: number): void;
  after(ms: number, run: () => void): () => void;
}

/**
 * Passes bytes both ways between two connections, each at the pace of the other. The headers of frames are read where we have a
 * word to say when we end it, and of a websocket for the limit on what the client sends.
 */
export class Tunnel {
  readonly #parts: TunnelParts;
  readonly #sent = websocketFrames();
  readonly #received: Frames | undefined;
  readonly #closed = Promise.withResolvers<StreamEnd | undefined>();
  #ending: StreamEnd | undefined;
  #cancel = (): void => undefined;

  constructor(parts: TunnelParts) {
    this.#parts = parts;
    const { client, upstream, head, speech } = parts;
    if (speech !== 'other') this.#received = speech === 'websocket' ? websocketFrames() : spdyFrames();
    for (const socket of [client, upstream]) {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    }
    client.on('error', () => this.#cut());
    // What the cluster broke off has not come to its end.
    upstream.on('error', () => (speech === 'websocket' ? this.#cut() : this.#reset()));
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
    if (!this.#received) {
      this.#reset();
      return;
    }
    const { speech } = this.#parts;
    this.#cutSoon(() => (speech === 'websocket' ? this.#cut() : this.#reset()));
    if (this.#received.isBetween) this.#sayGoodbye();
  }

  #fromClient(piece: Buffer): void {
    if (this.#ending) return;
    const { client, upstream, speech, onBytes } = this.#parts;
    onBytes('sent', piece.length);
    if (speech === 'websocket' && this.#sent.take(piece).longest > LONGEST_FRAME) this.end('frame_too_large');
    else pass(piece, client, upstream);
  }

  #fromUpstream(piece: Buffer): void {
    const { client, upstream, onBytes } = this.#parts;
    if (client.destroyed || client.writableEnded) return;
    const wasBetween = this.#received?.isBetween;
    const firstEnd = this.#received?.take(piece).firstEnd;
    if (!this.#ending) {
      onBytes('received', piece.length);
      pass(piece, upstream, client);
      return;
    }
    if (wasBetween || firstEnd === undefined) return void client.write(piece);
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
    const { client } = this.#parts;
    // An end of ours has its own last frame, and its own way to cut.
    if (client.destroyed || this.#ending) return;
    if (!client.writableEnded) client.end();
    this.#cutSoon();
  }

  #cutSoon(cut = (): void => this.#cut()): void {
    this.#cancel();
    this.#cancel = this.#parts.after(FINISH_MS, cut);
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
