import { type LogOut, type LogsEnd, toLine } from '../../../gateway/workload-logs/records.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { AnswerWriter } from '../../answer/answer.ts';
import { SlowReader } from '../../answer/slow-reader.ts';
import type { Exchange } from '../../exchange.ts';

/** Proxies commonly close a connection that is silent for 60 s; a watch has a bookmark as often. */
const IDLE_MS = 45_000;

const HEADERS = {
  'Content-Type': 'application/x-ndjson',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no', // nginx would hold the lines back
};

const ENDS: Readonly<Record<LogsEnd, string>> = {
  finished: 'everything was read, and nothing more will come',
  gone: 'the object is gone',
  revoked: 'the session has ended',
  forbidden: 'the right to this has ended',
  closing: 'the server is stopping',
};

interface LogStreamParts {
  readonly writer: AnswerWriter;
  readonly clock: Clock;
  /** A client that reads nothing of the last bytes for this long is cut off. Before the end it may pause for any time. */
  readonly sendTimeoutMs: number;
  onBytes(bytes: number): void;
}

/** The answer to a client that follows a workload: records, at the pace at which the client reads. */
export class LogStream implements LogOut {
  readonly #exchange: Exchange;
  readonly #parts: LogStreamParts;
  #drained: Promise<void> | undefined;
  #isOver = false;
  #cancelIdle = (): void => undefined;

  /** Sends the headers. */
  constructor(exchange: Exchange, parts: LogStreamParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    parts.writer.begin(exchange, HEADERS);
    exchange.atEnd(() => this.#cancelIdle());
    this.#idleLater();
  }

  write(lines: string): Promise<void> | undefined {
    const { response } = this.#exchange;
    if (this.#isOver || response.destroyed) return undefined;
    this.#idleLater();
    const hasRoom = this.#send(lines);
    if (hasRoom) return undefined;
    this.#drained ??= new Promise<void>((resolve) => {
      const go = (): void => {
        response.off('drain', go).off('close', go);
        this.#drained = undefined;
        resolve();
      };
      response.on('drain', go).on('close', go);
    });
    return this.#drained;
  }

  /** Ends the stream in order, with the reason as its last line. */
  end(reason: LogsEnd): void {
    const { response } = this.#exchange;
    if (this.#isOver || response.destroyed) return;
    this.#send(toLine({ type: 'end', reason, message: ENDS[reason] }));
    this.#isOver = true;
    this.#cancelIdle();
    this.#parts.writer.finish(this.#exchange);
    if (response.writableLength > 0) new SlowReader(response, this.#parts).block();
  }

  #send(lines: string): boolean {
    const bytes = Buffer.from(lines);
    this.#exchange.bodyBytes += bytes.length;
    this.#parts.onBytes(bytes.length);
    return this.#exchange.response.write(bytes);
  }

  #idleLater(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#parts.clock.after(IDLE_MS, () => {
      if (this.#drained !== undefined) this.#idleLater();
      else void this.write(toLine({ type: 'idle' }));
    });
  }
}
