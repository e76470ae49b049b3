/** A line of a container's log. */
export interface ReadLine {
  /** Empty if the line began without a time. */
  readonly time: string;
  readonly text: string;
  /** The number of bytes that were left out at the end. */
  readonly leftOut: number;
}

/**
 * The most bytes of a line that are kept. A runtime writes longer lines in pieces of 16 KiB, which the kubelet joins. 100 containers that
 * each write one line without end take 6.4 MB.
 */
const LONGEST_LINE = 64 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** `2026-01-02T03:04:05.123456789Z ` or with an offset, as the kubelet writes it with `timestamps=true`. */
const TIMED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ?/;

/** Cuts the bytes of a log into lines. Octets that are not UTF-8 become U+FFFD. */
export class LineReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #leftOut = 0;

  /** The lines that are whole after this piece. */
  read(piece: Buffer): ReadLine[] {
    const lines: ReadLine[] = [];
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      this.#hold(piece.subarray(from, end));
      lines.push(this.#take());
      from = end + 1;
    }
    // A copy, because the piece belongs to the connection.
    if (from < piece.length) this.#hold(Buffer.from(piece.subarray(from)));
    return lines;
  }

  /** What has come of a line that never ended. */
  end(): ReadLine[] {
    return this.#heldBytes + this.#leftOut > 0 ? [this.#take()] : [];
  }

  #hold(part: Buffer): void {
    const kept = part.subarray(0, LONGEST_LINE - this.#heldBytes);
    this.#heldBytes += kept.length;
    this.#leftOut += part.length - kept.length;
    if (kept.length > 0) this.#held.push(kept);
  }

  #take(): ReadLine {
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    const leftOut = this.#leftOut;
    this.#held = [];
    this.#heldBytes = 0;
    this.#leftOut = 0;
    const text = (leftOut === 0 && bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes).toString();
    const timed = TIMED.exec(text);
    return { time: timed?.[1] ?? '', text: timed ? text.slice(timed[0].length) : text, leftOut };
  }
}
