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

  /** Calls `onLine` for each line that `chunk` ends, in order, until it returns false. */
  push(chunk: Buffer, onLine: (line: string) => boolean): Decoded {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#held + end - start > LONGEST_LINE_BYTES) return 'too_long';
      const line = this.#finish(chunk, start, end);
      start = end + 1;
      if (line !== '' && !onLine(line)) return 'stopped';
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
