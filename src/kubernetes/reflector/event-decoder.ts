import type { ResponseSink } from '../../runtime/send-request.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import { parseObjects } from '../object-text.ts';
import { toStatus } from '../status.ts';
import { type Failure, failureOfResponse } from './failure.ts';
import type { WatchEvent, WatchSink } from './lister-watcher.ts';

/** A Status has some hundred bytes. A longer body is something else, and its rest is dropped. */
const LONGEST_REFUSAL_BYTES = 64 * 1024;

/**
 * Turns the answer to a watch into events. Each line of a 200 is an event, and any other answer is a Status. Stops at the
 * first bad line.
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
  /** Chunks that are not read yet. */
  readonly #chunks: Buffer[] = [];
  #reading: Promise<void> | undefined;

  constructor(sink: WatchSink, slices: TimeSlices) {
    this.#sink = sink;
    this.#slices = slices;
  }

  /** Aborts when the stream must end, because of its content or because of `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why we stopped the stream ourselves. */
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

  /**
   * Reads a flood of events in slices, line by line. The events of a chunk, 64 kB or more, take 1 ms. They take 50 ms if V8 is
   * late with the marking of its heap, because V8 then marks for 5 ms for every 64 kB that we allocate.
   */
  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#failure) return undefined;
    if (this.#status !== 200) return this.#refuse(chunk);
    this.#sink.bytes();
    this.#chunks.push(chunk);
    if (!this.#reading) {
      const read = this.#slices.run(this.#decode());
      if (!(read instanceof Promise)) return this.#sink.busy?.();
      this.#reading = read.then(() => {
        this.#reading = undefined;
      });
    }
    return this.#reading.then(() => this.#sink.busy?.());
  }

  /** Resolves when everything that has come is read. */
  async read(): Promise<void> {
    await this.#reading;
  }

  /** How the stream ended. Call it when the server has ended the stream and all of it is read. */
  ended(): Failure {
    if (this.#failure) return this.#failure;
    if (this.#status !== 200) return this.#refused();
    return this.#decoder.unfinished > 0
      ? { kind: 'unreadable', detail: 'the last line has no end' }
      : { kind: 'closed' };
  }

  *#decode(): Steps<void> {
    for (let chunk = this.#chunks.shift(); chunk; chunk = this.#chunks.shift()) {
      const decoded = yield* this.#decoder.push(chunk, this.#line);
      if (decoded === 'too_long') this.#fail({ kind: 'unreadable', detail: 'line too long' });
      if (decoded !== 'more') this.#chunks.length = 0;
    }
  }

  /** Turns an error that the sink throws into a failure of this watch. In a later slice nobody else would catch it. */
  #take(line: string): Failure | undefined {
    try {
      const event = parseWatchEvent(line);
      return event ? this.#sink.event(event) : { kind: 'unreadable', detail: 'no watch event' };
    } catch (error) {
      // Leaves out the error's message, which may contain a part of a Secret.
      return {
        kind: 'unreadable',
        detail: `an event could not be taken: ${error instanceof Error ? error.name : 'no error'}`,
      };
    }
  }

  readonly #line = (line: string): boolean => {
    if (this.#controller.signal.aborted) return false;
    const failure = this.#take(line);
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

/** Returns `undefined` for a line that is not a watch event. The rest of the stream cannot be trusted then. */
export function parseWatchEvent(line: string): WatchEvent | undefined {
  let event: unknown;
  try {
    event = parseObjects(line);
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

const NEWLINE = 0x0a;
/**
 * A watch event is one line. The largest object of the API has about 1.5 MiB (etcd's limit), so a line of 8 MiB is a
 * fault (I7).
 */
export const LONGEST_LINE_BYTES = 8 * 1024 * 1024;

/** What happened to a chunk. `stopped`: the consumer returned false. */
export type Decoded = 'more' | 'stopped' | 'too_long';

/**
 * Cuts a byte stream into lines. A line is decoded only when it is complete, so a chunk boundary inside a UTF-8
 * sequence does no harm. Holds at most one unfinished line, of at most `LONGEST_LINE_BYTES`. Empty lines are skipped.
 */
export class LineDecoder {
  #parts: Buffer[] = [];
  #held = 0;

  /** Bytes of a line that has begun and not ended. At the end of a stream they are a truncated line. */
  get unfinished(): number {
    return this.#held;
  }

  /** Calls `onLine` for each line that `chunk` ends, in order, until it returns false. A line is a step. */
  *push(chunk: Buffer, onLine: (line: string) => boolean): Steps<Decoded> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#held + end - start > LONGEST_LINE_BYTES) return 'too_long';
      const line = this.#finish(chunk, start, end);
      start = end + 1;
      if (line !== '' && !onLine(line)) return 'stopped';
      yield;
    }
    return this.#hold(chunk.subarray(start));
  }

  #finish(chunk: Buffer, start: number, end: number): string {
    if (this.#held === 0) return chunk.toString('utf8', start, end);
    this.#parts.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#held = 0;
    return line;
  }

  #hold(rest: Buffer): Decoded {
    if (rest.length === 0) return 'more';
    if (this.#held + rest.length > LONGEST_LINE_BYTES) return 'too_long';
    this.#parts.push(rest);
    this.#held += rest.length;
    return 'more';
  }
}
