import type { Steps } from '../../runtime/time-slices.ts';
import type { Entry } from './entry.ts';
import { ORDERS, OrderedIndex } from './ordered-index.ts';

/** Entries by key and in both orders. A copy costs little and is changed apart, so that a large change can be made aside and shown at once. */
export class Content {
  readonly byCreation: OrderedIndex;
  readonly byName: OrderedIndex;
  readonly #entries: Map<string, Entry>;

  constructor(of?: Content) {
    this.byCreation = of?.byCreation.copy() ?? new OrderedIndex(ORDERS.creationTimestamp);
    this.byName = of?.byName.copy() ?? new OrderedIndex(ORDERS.name);
    this.#entries = new Map(of ? of.#entries : []);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  put(entry: Entry): void {
    const previous = this.#entries.get(entry.key);
    this.#entries.set(entry.key, entry);
    this.byCreation.put(entry, previous);
    this.byName.put(entry, previous);
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.byCreation.remove(entry);
    this.byName.remove(entry);
  }

  /** As many `put`s, for so many that most leaves would be made anew again and again. */
  *putAll(entries: readonly Entry[]): Steps<void> {
    for (const entry of entries) this.#entries.set(entry.key, entry);
    const all = [...this.#entries.values()];
    yield* this.byCreation.fillInSteps(all);
    yield* this.byName.fillInSteps(all);
  }
}
