import { compareTimes } from '../logs/log-records.ts';
import type { Block } from './kept-rows.ts';
import type { StreamLine } from './stream-record.ts';

/** What is known of a container whose log is read again. */
interface Overlap {
  /** How often each known line may come again. */
  readonly left: Map<string, number>;
  /** Lines before this time were known once, too. */
  before: string;
  /** Whether those of exactly this time were, as well. */
  readonly isIncluded: boolean;
}

const containerOf = ({ pod, container }: StreamLine): string => `${pod}/${container}`;
const keyOf = ({ time, text }: StreamLine): string => `${time} ${text}`;

/**
 * Finds the lines that come again when a stream is opened again: it begins some time before the end of the last one, so that nothing is lost between
 * them. The log of one container comes in its order, so all known lines come before the first new one.
 */
export class KnownLines {
  readonly #lastTimes = new Map<string, string>();
  #overlaps = new Map<string, Overlap>();

  /** To be called before a stream is opened again, with all rows that are kept. */
  again(kept: readonly Block[]): void {
    this.#overlaps = new Map();
    for (const { rows } of kept)
      for (const row of rows) {
        if (row.type !== 'line') continue;
        const overlap = this.#overlaps.get(containerOf(row)) ?? {
          left: new Map(),
          before: row.time,
          isIncluded: false,
        };
        overlap.left.set(keyOf(row), (overlap.left.get(keyOf(row)) ?? 0) + 1);
        if (compareTimes(row.time, overlap.before) < 0) overlap.before = row.time;
        this.#overlaps.set(containerOf(row), overlap);
      }
    // Their lines are not kept any more: what is not newer than the last one was known.
    for (const [container, before] of this.#lastTimes)
      if (!this.#overlaps.has(container)) this.#overlaps.set(container, { left: new Map(), before, isIncluded: true });
  }

  /** Whether the line was not known. It is from now on. */
  isNew(line: StreamLine): boolean {
    const container = containerOf(line);
    const overlap = this.#overlaps.get(container);
    if (overlap && isKnown(line, overlap)) return false;
    this.#overlaps.delete(container);
    if (line.time !== '') this.#lastTimes.set(container, line.time);
    return true;
  }

  /** Forgets a pod that is gone. Another one may get its name. */
  forget(pod: string): void {
    for (const container of this.#lastTimes.keys())
      if (container.startsWith(`${pod}/`)) this.#lastTimes.delete(container);
  }
}

function isKnown(line: StreamLine, { left, before, isIncluded }: Overlap): boolean {
  const times = left.get(keyOf(line)) ?? 0;
  if (times > 0) left.set(keyOf(line), times - 1);
  if (times > 0 || line.time === '') return times > 0;
  const order = compareTimes(line.time, before);
  return order < 0 || (isIncluded && order === 0);
}
