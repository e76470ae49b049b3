import type { IncomingMessage } from 'node:http';
import type { CallKind } from '../../gateway/call.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange } from '../exchange.ts';
import type { Recheck } from '../watch/recheck.ts';
import type { StreamEnd } from './tunnel.ts';

/** The interval of rechecks. A stream ends at most 60 s, two intervals, after its caller has lost the right to it. */
const CHECK_MS = 30_000;
/** At a shutdown watches end one by one over this time, so that their clients do not all reconnect to another replica at once. */
const CLOSING_MS = 10_000;

export interface OpenStreamsParts {
  readonly clock: Clock;
  /** Prepares the rechecks of a caller who has just been authorized. */
  readonly recheck: (exchange: Exchange) => Recheck;
  /** Aborts when the port has closed. */
  readonly closing: AbortSignal;
  /** How long streams other than watches may go on after the port has closed. Their clients do not reconnect by themselves. */
  readonly streamDrainMs: number;
}

interface OpenStream {
  readonly kind: CallKind;
  readonly isUpgrade: boolean;
  end(why: StreamEnd): void;
}

/** All open streams. Rechecks their callers every 30 s, and ends the streams at a shutdown. */
export class OpenStreams {
  readonly #parts: OpenStreamsParts;
  readonly #streams = new Set<OpenStream>();
  readonly #lasting = new WeakSet<IncomingMessage>();

  constructor(parts: OpenStreamsParts) {
    this.#parts = parts;
    onAbort(parts.closing, () => this.#endAll());
  }

  count(kind: CallKind): number {
    return this.#number((stream) => stream.kind === kind);
  }

  get upgrades(): number {
    return this.#number(({ isUpgrade }) => isUpgrade);
  }

  readonly outlasts = (request: IncomingMessage): boolean => this.#lasting.has(request);

  /** Adds a stream, and rechecks its caller until its exchange ends. */
  opened(exchange: Exchange, stream: OpenStream): void {
    const { clock, closing, recheck } = this.#parts;
    const judge = recheck(exchange);
    let cancel = (): void => undefined;
    const checkLater = (): void => {
      cancel = clock.after(CHECK_MS, () => void check());
    };
    const check = async (): Promise<void> => {
      try {
        await judge();
        if (this.#streams.has(stream)) checkLater();
      } catch (error) {
        stream.end(isForbidden(error) ? 'forbidden' : 'revoked');
      }
    };
    this.#streams.add(stream);
    if (stream.kind !== 'watch') this.#lasting.add(exchange.request);
    checkLater();
    exchange.atEnd(() => {
      this.#streams.delete(stream);
      cancel();
    });
    if (closing.aborted) stream.end('closing');
  }

  #number(fits: (stream: OpenStream) => boolean): number {
    let number = 0;
    for (const stream of this.#streams) if (fits(stream)) number += 1;
    return number;
  }

  #endAll(): void {
    const { clock, streamDrainMs } = this.#parts;
    const watches: OpenStream[] = [];
    for (const stream of this.#streams) {
      if (stream.kind === 'watch') watches.push(stream);
      else clock.after(streamDrainMs, () => this.#endAtClosing(stream));
    }
    for (const [at, watch] of watches.entries())
      clock.after((at * CLOSING_MS) / watches.length, () => this.#endAtClosing(watch));
  }

  #endAtClosing(stream: OpenStream): void {
    if (this.#streams.has(stream)) stream.end('closing');
  }
}

/** Whether the caller is still signed in but has lost the right. */
const isForbidden = (error: unknown): boolean => error instanceof StatusError && error.answer.code === 403;
