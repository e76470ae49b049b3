import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ListOut } from '../../../gateway/permitted/merged-list.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { bytesTaken, StallDetector } from '../../answer/stall-detector.ts';
import type { Exchange } from '../../exchange.ts';
import { GOODBYE_MS } from '../../limits/http-limits.ts';
import type { EarlyBytes } from '../early-bytes.ts';
import type { Relay } from '../relay.ts';
import { CLOSES, KEEP_ALIVE_PROBE_MS, type StreamEnd } from '../tunnel.ts';
import { closeFrame, frameOf } from '../websocket-frames.ts';
import { ClientFrames, OPCODES } from './client-frames.ts';

interface WatchSocketParts {
  readonly exchange: Exchange;
  readonly client: Socket;
  readonly early: EarlyBytes;
  /** Answers by HTTP as long as the connection is one. */
  readonly relay: Relay;
  /** The subprotocols that the client offers, without a bearer. */
  readonly subprotocols: readonly string[];
  /** Called when nothing more can be sent. */
  onGone(): void;
  onBytes(direction: 'sent' | 'received', bytes: number): void;
  readonly clock: Clock;
  /** A client that reads nothing of the waiting bytes for this long is cut off. */
  readonly sendTimeoutMs: number;
}

const NEWLINE = 0x0a;

/** RFC 6455 7.4.1. */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;

/**
 * Sends a watch that we make ourselves over a WebSocket, an event in each text frame, as the API server does
 * (https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/watch.go). An answer that is no
 * stream of events is an answer by HTTP.
 */
export class WatchSocket implements ListOut {
  readonly #parts: WatchSocketParts;
  readonly #closed = Promise.withResolvers<void>();
  readonly #stall: StallDetector;
  #isOpen = false;
  #isClosing = false;
  #cancel = (): void => undefined;

  constructor(parts: WatchSocketParts) {
    this.#parts = parts;
    this.#stall = new StallDetector(parts.sendTimeoutMs);
  }

  /** Whether the client has the 101: from then on only frames can be sent. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  start(status: number, headers: readonly string[]): void {
    const { relay, early, client, exchange, subprotocols, onBytes, onGone } = this.#parts;
    const head = early.stop();
    if (status !== 200) {
      relay.start(status, headers);
      return;
    }
    this.#isOpen = true;
    relay.switchTo(acceptHeaders(exchange.request, subprotocols), 'websocket');
    const frames = new ClientFrames({
      onControl: (opcode, payload) => this.#control(opcode, payload),
      onFault: () => this.#close(PROTOCOL_ERROR, ''),
    });
    const take = (piece: Buffer): void => {
      onBytes('sent', piece.length);
      frames.take(piece);
    };
    client.setTimeout(0);
    client.setNoDelay(true);
    client.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    client.on('error', () => client.destroy());
    client.on('data', take);
    client.once('end', () => client.end());
    client.once('close', () => {
      this.#cancel();
      onGone();
      this.#closed.resolve();
    });
    if (head.length > 0) take(head);
    client.resume();
  }

  data(chunk: Buffer): Promise<void> | undefined {
    const { relay, client, onBytes } = this.#parts;
    if (!this.#isOpen) return relay.data(chunk);
    if (this.#isClosing || client.destroyed) return undefined;
    const frames = Buffer.concat(linesOf(chunk).map((line) => frameOf(OPCODES.text, line)));
    onBytes('received', frames.length);
    if (client.write(frames)) return undefined;
    this.#stall.block(bytesTaken(client), this.#parts.clock.monotonic());
    this.#lookLater();
    return new Promise((resolve) => {
      const go = (): void => {
        this.#stall.unblock();
        client.off('drain', go).off('close', go);
        resolve();
      };
      client.on('drain', go).on('close', go);
    });
  }

  /** The watch has ended in order. */
  end(): void {
    if (this.#isOpen) this.#close(NORMAL, '');
    else this.#parts.relay.end();
  }

  /** We end the watch, with the reason. */
  endFor(why: StreamEnd): void {
    const [code, reason] = CLOSES[why];
    this.#close(code, reason);
  }

  /** The watch broke off: the client must not take it for an orderly end. */
  cut(): void {
    if (!this.#isClosing) this.#parts.client.destroy();
  }

  #control(opcode: number, payload: Buffer): void {
    const { client } = this.#parts;
    // A client that reads nothing gets no more answers: they would fill our memory.
    const hasRoom = !this.#isClosing && !client.writableNeedDrain;
    if (opcode === OPCODES.ping && hasRoom) client.write(frameOf(OPCODES.pong, payload));
    if (opcode !== OPCODES.close) return;
    if (this.#isClosing) client.end();
    else this.#close(payload.length >= 2 ? payload.readUInt16BE(0) : NORMAL, '');
  }

  #close(code: number, reason: string): void {
    const { client, clock, onGone } = this.#parts;
    if (this.#isClosing) return;
    this.#isClosing = true;
    client.end(closeFrame(code, reason));
    onGone();
    this.#cancel();
    this.#cancel = clock.after(GOODBYE_MS, () => client.destroy());
  }

  #lookLater(): void {
    const { client, clock } = this.#parts;
    const dueIn = this.#stall.dueIn(clock.monotonic());
    if (dueIn === undefined || this.#isClosing) return;
    this.#cancel();
    this.#cancel = clock.after(dueIn, () => {
      if (this.#stall.isStalled(bytesTaken(client), clock.monotonic())) client.destroy();
      else this.#lookLater();
    });
  }
}

/** The lines of a chunk, each with its line break. A chunk of events has whole lines only. */
function linesOf(chunk: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < chunk.length; ) {
    const end = chunk.indexOf(NEWLINE, from);
    const to = end < 0 ? chunk.length : end + 1;
    lines.push(chunk.subarray(from, to));
    from = to;
  }
  return lines;
}

/** 16 bytes in base64 (RFC 6455 4.1). */
const KEY = /^[A-Za-z0-9+/]{22}==$/;
/** RFC 6455 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Whether the request can be answered with a 101. The API server refuses one that cannot in words of its own. */
export const isHandshake = ({ headers }: IncomingMessage): boolean =>
  headers['sec-websocket-version'] === '13' && KEY.test(headers['sec-websocket-key'] ?? '');

/** The API server, too, sends the offered subprotocol back and does nothing else with it. */
function acceptHeaders({ headers }: IncomingMessage, [subprotocol]: readonly string[]): string[] {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${GUID}`).digest('base64');
  return [
    ...['Sec-WebSocket-Accept', accept],
    ...(subprotocol === undefined ? [] : ['Sec-WebSocket-Protocol', subprotocol]),
  ];
}
