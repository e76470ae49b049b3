import type { Clock } from '../../src/runtime/clock.ts';
import type { Collection } from './collection.ts';
import type { Change } from './entry.ts';

/** A real server sends one bookmark this long before the time-out that the client asked for. */
const BOOKMARK_BEFORE_END_MS = 2_000;

export interface FeedOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** 0: no bookmarks. */
  readonly bookmarkIntervalMs: number;
  /** The version in a bookmark sent at this moment. */
  readonly revision: () => number;
}

export type FeedItem = Change | { readonly bookmarkAt: number };

/** The changes of a collection from now on, with bookmarks in between, queued until the reader takes them. */
export class WatchFeed {
  readonly #options: FeedOptions;
  readonly #signal: AbortSignal;
  readonly #cancels = new Set<() => void>();
  #pending: FeedItem[] = [];
  #ended: boolean;
  #wake: () => void = () => undefined;

  constructor(collection: Collection, options: FeedOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#ended = signal.aborted;
    this.#cancels.add(collection.subscribe({ changed: (change) => this.#push(change), ended: this.#end }));
    const { timeoutMs, bookmarkIntervalMs } = options;
    if (bookmarkIntervalMs > 0) {
      this.#bookmarkRepeatedly();
      if (timeoutMs > BOOKMARK_BEFORE_END_MS) this.#later(timeoutMs - BOOKMARK_BEFORE_END_MS, this.#bookmark);
    }
    this.#later(timeoutMs, this.#end);
    signal.addEventListener('abort', this.#end, { once: true });
  }

  /** Ends after the time-out, when everything before it was delivered, or when the signal aborts. */
  async *items(): AsyncGenerator<FeedItem, void, undefined> {
    while (!this.#ended || this.#pending.length > 0) {
      yield* this.#pending.splice(0);
      if (!this.#ended && this.#pending.length === 0) await this.#change();
    }
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#end);
    for (const cancel of this.#cancels) cancel();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #push(item: FeedItem): void {
    this.#pending.push(item);
    this.#wake();
  }

  readonly #end = (): void => {
    this.#ended = true;
    this.#wake();
  };

  readonly #bookmark = (): void => this.#push({ bookmarkAt: this.#options.revision() });

  #bookmarkRepeatedly(): void {
    this.#later(this.#options.bookmarkIntervalMs, () => {
      this.#bookmark();
      this.#bookmarkRepeatedly();
    });
  }

  #later(ms: number, run: () => void): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#cancels.delete(cancel);
      run();
    });
    this.#cancels.add(cancel);
  }
}
