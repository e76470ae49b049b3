import type { IncomingMessage } from 'node:http';
import type { CallKind } from '../../gateway/call.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StatusError } from '../../status-error.ts';
import type { Exchange } from '../exchange.ts';
import type { CallerChanges } from '../watch/caller-changes.ts';
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
  readonly callerChanges: CallerChanges;
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

/** All open streams. Rechecks their callers every 30 s and when they have changed, and ends the streams at a shutdown. */
export class OpenStreams {
  readonly #parts: OpenStreamsParts;
  readonly #streams = new Set<OpenStream>();
  /** The checks of the callers of streams, by the names of the callers. */
  readonly #checks = new Map<string, Set<() => void>>();
  readonly #lasting = new WeakSet<IncomingMessage>();

  constructor(parts: OpenStreamsParts) {
    this.#parts = parts;
    parts.callerChanges.onChange((users) => this.#checkNow(users));
    onAbort(parts.closing, () => this.#endAll());
  }

  count(kind: CallKind): number {
    return this.#number((stream) => stream.kind === kind);
  }

  get upgrades(): number {
    return this.#number(({ isUpgrade }) => isUpgrade);
  }

  readonly outlasts = (request: IncomingMessage): boolean => this.#lasting.has(request);

  /** Adds a stream, and rechecks its caller until its exchange ends. `judge`: the rechecks of a stream that needs other rights than its path says. */
  opened(exchange: Exchange, stream: OpenStream, judge: Recheck = this.#parts.recheck(exchange)): void {
    const { clock, closing } = this.#parts;
    let cancel = (): void => undefined;
    const checkLater = (): void => {
      cancel(); // a check that a change asked for may have planned the next one
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
    const checkNow = (): void => {
      cancel();
      void check();
    };
    const forget = this.#remember(exchange.identity?.name ?? '', checkNow);
    this.#streams.add(stream);
    if (stream.kind !== 'watch') this.#lasting.add(exchange.request);
    checkLater();
    exchange.atEnd(() => {
      this.#streams.delete(stream);
      forget();
      cancel();
    });
    if (closing.aborted) stream.end('closing');
  }

  /** Returns a function that forgets the check. */
  #remember(user: string, check: () => void): () => void {
    const checks = this.#checks.get(user) ?? new Set();
    this.#checks.set(user, checks.add(check));
    return () => {
      checks.delete(check);
      if (checks.size === 0) this.#checks.delete(user);
    };
  }

  #checkNow(users: ReadonlySet<string>): void {
    for (const user of users) for (const check of this.#checks.get(user) ?? []) check();
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
