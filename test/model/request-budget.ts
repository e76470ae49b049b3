import { hold } from './violation.ts';

const WINDOW_MS = 60_000;
const MOST_STARTS = 8;
/** I8. */
const LONGEST_IDLE_MS = 300_000;

/** Requests that were started: I5 for lists, watches and the lists of the self-check, I8 for the time between them. */
export class RequestBudget {
  readonly #starts = { list: [] as number[], watch: [] as number[], check: [] as number[] };
  activeAt = 0;
  /** Why a list may be made now; cleared by a list that went well. */
  excuse: string | undefined = 'the first list';
  #lists = 0;

  active(now: number): void {
    hold(now - this.activeAt < LONGEST_IDLE_MS, 'I8', () => ({ idle: now - this.activeAt }));
    this.activeAt = now;
  }

  list(now: number): void {
    this.#lists++;
    hold(this.excuse !== undefined, 'I5', () => 'a list while the last version is in the history');
    this.#count('list', now);
  }

  /** `isFree`: it follows a stream that did its work. */
  watch(now: number, isFree: boolean): void {
    if (!isFree) this.#count('watch', now);
  }

  /** The first list went well: nothing has failed since, or the budget begins with the failures before it. */
  listed(): void {
    this.excuse = undefined;
    if (this.#lists === 1) this.#starts.list.length = 0;
  }

  selfCheck(now: number): void {
    this.#count('check', now);
  }

  #count(kind: 'list' | 'watch' | 'check', now: number): void {
    const starts = this.#starts[kind];
    starts.push(now);
    while ((starts[0] ?? now) <= now - WINDOW_MS) starts.shift();
    hold(starts.length <= MOST_STARTS, 'I5', () => ({ [kind]: starts }));
  }
}
