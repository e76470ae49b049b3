import { hash } from 'node:crypto';
import type { ReadLine } from './line-reader.ts';

/**
 * How many of the last lines are remembered. Lines can come in another order than that of their times, because a runtime writes both
 * outputs of a container into one file. Such lines are microseconds apart, so they change places with a few others: up to half of this number
 * does no harm.
 */
const REMEMBERED = 256;
/** Longer texts are remembered by their hash. */
const SHORT = 64;

interface Remembered {
  readonly time: string;
  readonly key: string;
}

/** What is known of the lines that may come again. */
interface Overlap {
  /** How often each remembered line may still come. */
  readonly left: Map<string, number>;
  /** A line with an earlier time was seen, though it may not be remembered. */
  readonly from: string;
  readonly newest: string;
  /** Whether a remembered line has come. */
  hasEntered: boolean;
}

/**
 * Remembers where in a log the reader has been, so that after a break it can begin again a little earlier and leave out what it has had.
 * A log is read in the order of its file, so what was seen is everything up to some line: the first line that is not known ends the overlap.
 */
export class SeenLines {
  /** The last lines, the oldest at `#next` when all places are taken. */
  readonly #lines: Remembered[] = [];
  #next = 0;
  #overlap: Overlap | undefined;

  /**
   * The time from which the log is to be read again: that of the middle one of the remembered lines, or of the first while every line is
   * remembered. Empty if no line with a time was seen.
   */
  get from(): string {
    const { length } = this.#lines;
    const first = length === REMEMBERED ? this.#next + REMEMBERED / 2 : 0;
    for (let at = 0; at < length; at++) {
      const { time } = this.#lines[(first + at) % length] as Remembered;
      if (time !== '') return time; // a message of the kubelet itself has none
    }
    return '';
  }

  /** To be called when the log is read again, from `from` or earlier. */
  again(): void {
    const left = new Map<string, number>();
    let newest = '';
    for (const { key, time } of this.#lines) {
      left.set(key, (left.get(key) ?? 0) + 1);
      if (isBefore(newest, time)) newest = time;
    }
    this.#overlap = { left, newest, from: this.from, hasEntered: false };
  }

  /** Whether the line is new. A new one is remembered. */
  isNew(line: ReadLine): boolean {
    const key = keyOf(line);
    if (this.#overlap && isKnown(this.#overlap, line.time, key)) return false;
    this.#overlap = undefined;
    this.#lines[this.#next] = { time: line.time, key };
    this.#next = (this.#next + 1) % REMEMBERED;
    return true;
  }
}

/**
 * Whether the line was seen. One that is not remembered is older than those that are: before any of these has come, because the last line
 * comes before every new one; after that, if its time says so.
 */
function isKnown(overlap: Overlap, time: string, key: string): boolean {
  const left = overlap.left.get(key) ?? 0;
  if (left > 0) {
    overlap.left.set(key, left - 1);
    overlap.hasEntered = true;
    return true;
  }
  if (time === '') return false;
  return overlap.hasEntered ? isBefore(time, overlap.from) : !isBefore(overlap.newest, time);
}

const keyOf = ({ time, text, leftOut }: ReadLine): string =>
  `${time} ${leftOut} ${text.length <= SHORT ? text : hash('sha1', text, 'base64')}`;

/** Whether a time of one log is before another of the same log: they have the same zone, but not always the same number of digits. */
const isBefore = (time: string, other: string): boolean => padded(time) < padded(other);

/** The time with nine digits after the second. */
function padded(time: string): string {
  const [, second = '', digits = ''] = /^(.{19})(?:\.(\d+))?/.exec(time) ?? [];
  return second + digits.padEnd(9, '0');
}
