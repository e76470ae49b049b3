import type { TimeSlices } from '../../runtime/time-slices.ts';
import type { ResponseSink } from '../client/send-request.ts';
import { toStatus } from '../status.ts';
import { type Failure, failureOfResponse } from './failure.ts';
import { LineDecoder } from './line-decoder.ts';
import type { WatchEvent, WatchSink } from './lister-watcher.ts';

/** A Status has some hundred bytes. Anything longer is not one, so the rest is dropped. */
const LONGEST_REFUSAL_BYTES = 64 * 1024;

/**
 * Turns the bytes of a watch's answer into events: each line of a 200 is one, and any other answer is a Status. Stops
 * at the first bad line.
 */
export class EventDecoder implements ResponseSink {
  readonly #sink: WatchSink;
  readonly #slices: TimeSlices;
  readonly #controller = new AbortController();
  readonly #decoder = new LineDecoder();
  readonly #refusal: Buffer[] = [];
  #refusalBytes = 0;
  #status = 0;
  #retryAfter: string | undefined;
  #failure: Failure | undefined;

  constructor(sink: WatchSink, slices: TimeSlices) {
    this.#sink = sink;
    this.#slices = slices;
  }

  /** Aborts when the stream must end, because of what it said or because of `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why we stopped it ourselves. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  get started(): boolean {
    return this.#status !== 0;
  }

  stop(): void {
    this.#controller.abort();
  }

  start(status: number, headers: Parameters<ResponseSink['start']>[1]): void {
    const retryAfter = headers['retry-after'];
    this.#status = status;
    this.#retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
    if (status !== 200) return;
    this.#sink.bytes();
    this.#sink.accepted();
  }

  /** A flood is processed in slices: a socket delivers up to 2 MB at a time, which is 30 ms of events. */
  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#failure) return undefined;
    if (this.#status !== 200) return this.#refuse(chunk);
    this.#slices.whole(() => this.#decode(chunk));
    return this.#sink.busy?.() ?? this.#slices.untilNext();
  }

  /** How the stream ended, when the server ended it. */
  ended(): Failure {
    if (this.#failure) return this.#failure;
    if (this.#status !== 200) return this.#refused();
    return this.#decoder.unfinished > 0
      ? { kind: 'unreadable', detail: 'the last line has no end' }
      : { kind: 'closed' };
  }

  #decode(chunk: Buffer): void {
    this.#sink.bytes();
    const decoded = this.#decoder.push(chunk, this.#line);
    if (decoded === 'too_long') this.#fail({ kind: 'unreadable', detail: 'line too long' });
  }

  readonly #line = (line: string): boolean => {
    const event = parseWatchEvent(line);
    const failure = event ? this.#sink.event(event) : ({ kind: 'unreadable', detail: 'no watch event' } as const);
    if (failure) this.#fail(failure);
    return !this.#controller.signal.aborted;
  };

  #fail(failure: Failure): void {
    this.#failure = failure;
    this.#controller.abort();
  }

  #refuse(chunk: Buffer): undefined {
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes <= LONGEST_REFUSAL_BYTES) this.#refusal.push(chunk);
  }

  #refused(): Failure {
    let body: unknown;
    try {
      body = JSON.parse(Buffer.concat(this.#refusal).toString('utf8'));
    } catch {
      // a proxy's error page: the status alone decides
    }
    return failureOfResponse(toStatus(body, this.#status), this.#retryAfter);
  }
}

/** Returns `undefined` for a line that is no watch event. The stream cannot be trusted after that. */
export function parseWatchEvent(line: string): WatchEvent | undefined {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isWatchEvent(event) ? event : undefined;
}

function isWatchEvent(value: unknown): value is WatchEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { type, object } = value as Partial<WatchEvent>;
  return typeof type === 'string' && typeof object === 'object' && object !== null;
}
