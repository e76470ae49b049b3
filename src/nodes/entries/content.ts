import type { Steps } from '../../runtime/time-slices.ts';
import type { NodeEntry } from './entry.ts';
import { NODE_ORDERS, OrderedIndex } from './ordered-index.ts';

/** Nodes by name and in both orders. A copy costs little and is changed apart, so that a large change can be made aside and shown at once. */
export class NodeContent {
  readonly byCreation: OrderedIndex;
  readonly byName: OrderedIndex;
  readonly #nodes: Map<string, NodeEntry>;

  constructor(of?: NodeContent) {
    this.byCreation = of?.byCreation.copy() ?? new OrderedIndex(NODE_ORDERS.creationTimestamp);
    this.byName = of?.byName.copy() ?? new OrderedIndex(NODE_ORDERS.name);
    this.#nodes = new Map(of ? of.#nodes : []);
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(name: string): NodeEntry | undefined {
    return this.#nodes.get(name);
  }

  entries(): IterableIterator<NodeEntry> {
    return this.#nodes.values();
  }

  put(entry: NodeEntry): void {
    const previous = this.#nodes.get(entry.key);
    this.#nodes.set(entry.key, entry);
    this.byCreation.put(entry, previous);
    this.byName.put(entry, previous);
  }

  remove(name: string): void {
    const entry = this.#nodes.get(name);
    if (!entry) return;
    this.#nodes.delete(name);
    this.byCreation.remove(entry);
    this.byName.remove(entry);
  }

  /** As many `put`s, for so many that most leaves would be made anew again and again. */
  *putAll(entries: readonly NodeEntry[]): Steps<void> {
    for (const entry of entries) this.#nodes.set(entry.key, entry);
    const all = [...this.#nodes.values()];
    yield* this.byCreation.fillInSteps(all);
    yield* this.byName.fillInSteps(all);
  }
}
